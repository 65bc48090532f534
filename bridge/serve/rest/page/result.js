// What came back: a number, a table, a bar chart, a picture; the JSON itself is always there.
import {copied, drawn, element, number} from './dom.js';
import {count, limits, picture, shapeOf} from './tensors.js';

const ROWS = 100, COLUMNS = 40, BARS = 64, RAW = 100_000;

export function shown(told, milliseconds) {
  const outputs = told.outputs?.every?.((one) => one.datatype) ? told.outputs : [{name: '', value: told.result}];
  const raw = JSON.stringify(told, null, 1);
  return element('div', {},
    element('p', {class: 'quiet'}, `answered in ${milliseconds.toFixed(1)} ms`),
    ...outputs.flatMap((one) => one.datatype ? tensor(one) : value(one.value)),
    element('details', {}, element('summary', {}, 'JSON'), element('pre', {class: 'raw'}, raw.length > RAW ? `${raw.slice(0, RAW)} …` : raw)));
}

function tensor({name, datatype, shape, data}) {
  const title = element('div', {class: 'label'}, element('strong', {}, `${name} `), element('span', {class: 'quiet'}, `${datatype}, ${shape.join(' × ')}`));
  return [title, ...parts(shape, data)];
}

function value(told) {
  if (Array.isArray(told) && told.length) {
    const shape = shapeOf(told);
    const data = told.flat(Infinity);
    if (count(shape) === data.length && data.every((one) => typeof one === 'number')) return parts(shape, data);
    if (told.every((one) => one !== null && typeof one === 'object' && !Array.isArray(one))) return [objects(told)];
  }
  if (told !== null && typeof told === 'object' && !Array.isArray(told)) return [objects([told], true)];
  if (typeof told === 'number') return [element('p', {class: 'now number'}, number(told, 8))];
  return [element('pre', {}, typeof told === 'string' ? told : JSON.stringify(told))];
}

function parts(shape, data) {
  if (typeof data[0] === 'string') return [element('pre', {}, data.slice(0, ROWS).join('\n'))];
  const width = shape[shape.length - 1] ?? 1;
  if (data.length === 1) return [element('p', {class: 'number'}, number(data[0], 8))];
  const form = shape.length > 2 || (shape.length === 2 && shape[0] >= 8 && shape[1] >= 8) ? picture(shape.length === 4 ? shape.slice(1) : shape) : null;
  if (form && form.width >= 8 && count(shape) === form.planes * form.width * form.height) return [image(form, data), table(data, width)];
  if (data.length === width && width <= BARS) return [bars(data), table(data, width)];
  return [table(data, width)];
}

function table(data, width) {
  const rows = Math.ceil(data.length / width);
  const columns = Math.min(width, COLUMNS);
  const head = element('tr', {}, element('th', {}), ...Array.from({length: columns}, (_, j) => element('th', {scope: 'col'}, String(j))));
  const body = Array.from({length: Math.min(rows, ROWS)}, (_, i) => element('tr', {}, element('th', {scope: 'row'}, String(i)),
    ...data.slice(i * width, i * width + columns).map((one) => element('td', {}, number(one)))));
  const rest = rows > ROWS || width > COLUMNS ? element('p', {class: 'quiet'}, `the first ${Math.min(rows, ROWS)} of ${rows} rows, ${columns} of ${width} columns; counted from 0`) : null;
  return element('div', {class: 'wide'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)), ...(rest ? [rest] : []));
}

function objects(told, single = false) {
  const names = [...new Set(told.flatMap(Object.keys))].slice(0, COLUMNS);
  const cell = (one) => element('td', {class: 'text'}, typeof one === 'number' ? number(one, 8) : typeof one === 'string' ? one : JSON.stringify(one ?? null));
  const rows = single ? names.map((name) => element('tr', {}, element('th', {scope: 'row'}, name), cell(told[0][name])))
    : [element('tr', {}, ...names.map((name) => element('th', {scope: 'col'}, name))), ...told.slice(0, ROWS).map((one) => element('tr', {}, ...names.map((name) => cell(one[name]))))];
  return element('div', {class: 'wide'}, element('table', {}, ...rows));
}

function bars(data) {
  const wide = 860, high = 150, left = 56, below = 20;
  const low = Math.min(0, ...data), top = Math.max(0, ...data);
  const y = (one) => (high - below) * (1 - (one - low) / (top - low || 1));
  const step = (wide - left) / data.length;
  const most = data.indexOf(Math.max(...data));
  const svg = drawn('svg', {viewBox: `0 0 ${wide} ${high + 16}`, role: 'img', 'aria-label': `${data.length} values, the largest at ${most}, counted from 0`, width: '100%'});
  svg.append(drawn('line', {class: 'grid', x1: left, x2: wide, y1: y(0), y2: y(0)}));
  for (const one of new Set([low, top])) svg.append(drawn('text', {x: left - 8, y: y(one) + (one === top ? 10 : 0), 'text-anchor': 'end'}, number(one)));
  data.forEach((one, k) => {
    const bar = drawn('rect', {class: k === most ? 'bar most' : 'bar', x: left + k * step + step * .1, width: step * .8, y: Math.min(y(one), y(0)), height: Math.max(1, Math.abs(y(one) - y(0))), rx: 2});
    bar.append(drawn('title', {}, `${k}: ${number(one, 6)}`));
    svg.append(bar);
    if (data.length <= 32) svg.append(drawn('text', {x: left + (k + .5) * step, y: high + 8, 'text-anchor': 'middle'}, String(k)));
  });
  return svg;
}

function image({planes, width, height}, data) {
  const canvas = element('canvas', {class: 'picture', width: String(width), height: String(height), role: 'img', 'aria-label': `the result as a picture of ${width} × ${height}`});
  canvas.style.width = `${Math.max(width, Math.round(256 / width) * width)}px`;
  const [low, top] = limits(data);
  const pixels = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = 255 * (data[i + (planes === 3 ? c * width * height : 0)] - low) / (top - low || 1);
    pixels.data[4 * i + 3] = 255;
  }
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return element('div', {}, canvas, element('p', {class: 'quiet'}, `black is ${number(low)}, white ${number(top)}`));
}

export function command(text) {
  return element('details', {}, element('summary', {}, 'The same from a shell'), element('pre', {}, text), copied(text));
}
