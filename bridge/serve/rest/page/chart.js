// Lines over the last two minutes, a point each second.
import {drawn, element, number} from './dom.js';

const LONG = 120, WIDE = 300, HIGH = 96, LEFT = 34;

export class Chart {
  constructor(title, unit, lines) {
    this.unit = unit;
    this.lines = lines.map(([name, kind]) => ({name, kind, points: []}));
    this.now = element('span', {class: 'now number'}, '–');
    this.svg = drawn('svg', {viewBox: `0 0 ${WIDE} ${HIGH + 16}`, width: '100%', role: 'img', 'aria-label': `${title}, the last two minutes`});
    const names = lines.length > 1 ? lines.map(([name, kind]) => element('span', {class: `${kind}-text`}, `${name} `)) : [];
    this.part = element('div', {class: 'chart'}, element('h3', {}, title), element('div', {}, this.now, element('span', {class: 'quiet'}, ` ${unit}`)), element('div', {class: 'legend'}, ...names), this.svg);
  }

  add(values) {
    this.lines.forEach((line, k) => { line.points.push(values[k]); line.points.splice(0, line.points.length - LONG); });
    const last = values[0];
    this.now.textContent = last === null ? '–' : number(last, 3);
    this.draw();
  }

  draw() {
    const top = nice(Math.max(...this.lines.flatMap((line) => line.points)) || 1);
    const y = (one) => 4 + (HIGH - 8) * (1 - one / top);
    const x = (k, length) => LEFT + (WIDE - LEFT) * (LONG - length + k) / (LONG - 1);
    this.svg.replaceChildren(
      ...[0, top / 2, top].flatMap((one) => [drawn('line', {class: 'grid', x1: LEFT, x2: WIDE, y1: y(one), y2: y(one)}), drawn('text', {x: LEFT - 6, y: y(one) + 4, 'text-anchor': 'end'}, number(one, 2))]),
      drawn('text', {x: LEFT, y: HIGH + 12}, '2 min ago'), drawn('text', {x: WIDE, y: HIGH + 12, 'text-anchor': 'end'}, 'now'),
      ...this.lines.map((line) => drawn('path', {class: line.kind, d: path(line.points.map((one, k) => one === null ? null : [x(k, line.points.length), y(one)]))})));
  }
}

// Points joined by a line, with gaps where there is none; a point alone is a short stroke.
function path(points) {
  return points.map((point, k) => {
    if (!point) return '';
    const [a, b] = point.map((one) => one.toFixed(1));
    return points[k - 1] ? `L${a} ${b}` : `M${a} ${b}h.1`;
  }).join('');
}

function nice(value) {
  const step = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((one) => one * step >= value) * step;
}

// Charts of one model, from the differences of what the server has counted.
export class Charts {
  constructor() {
    this.rate = new Chart('Requests', 'per second', [['', 'one']]);
    this.latency = new Chart('Latency', 'ms', [['all', 'one'], ['in the queue', 'two']]);
    this.batch = new Chart('Batch', 'requests', [['', 'one']]);
    this.queue = new Chart('Queue', 'requests waiting', [['', 'one']]);
    this.part = element('div', {class: 'charts'}, ...[this.rate, this.latency, this.batch, this.queue].map((one) => one.part));
    this.before = null;
  }

  add(told, seconds) {
    const {success, queue} = told.inference_stats;
    const now = {count: success.count, all: success.ns, queue: queue.ns, batches: told.execution_count, at: seconds};
    const {before} = this;
    this.before = now;
    if (!before || now.count < before.count) return;
    const count = now.count - before.count;
    const mean = (name) => count ? (now[name] - before[name]) / count / 1e6 : null;
    this.rate.add([count / Math.max(now.at - before.at, 1e-3)]);
    this.latency.add([mean('all'), mean('queue')]);
    this.batch.add([count && now.batches > before.batches ? count / (now.batches - before.batches) : null]);
    this.queue.add([told.pending]);
  }
}
