// The page: models at the left, what is chosen in the middle, below it how it goes.
import {curl, get, post} from './api.js';
import {Charts} from './chart.js';
import {element} from './dom.js';
import {TensorField, ValueField} from './form.js';
import {command, shown} from './result.js';

const PERIOD = 1000; // milliseconds between looks at what the server has counted
const part = (id) => document.getElementById(id);
const named = (name) => encodeURIComponent(name);

let chosen = null;
let charts = null;
let version = '';

async function start() {
  try {
    const server = await get('v2');
    version = server.version;
    part('server').textContent = version;
    await list();
    setInterval(look, PERIOD);
  } catch (error) {
    part('work').replaceChildren(element('p', {class: 'bad'}, error.message));
  }
}

// All models with what can be called of each.
async function list() {
  const [index, {functions}] = await Promise.all([post('v2/repository/index', {}), get('call')]);
  const models = [];
  for (const row of index) {
    const described = row.state === 'READY' ? await get(`v2/models/${named(row.name)}/versions/${named(row.version)}`) : null;
    models.push({...row, described, functions: functions.filter((one) => one.model === row.name && one.version === row.version)});
  }
  part('models').replaceChildren(...models.map(item));
  part('models').querySelector('button')?.click();
  if (!part('models').querySelector('button')) part('work').replaceChildren(element('p', {}, 'No model is served.'));
}

function item(model) {
  const ways = [];
  if (model.described?.inputs.length) ways.push(['inference', () => inference(model)]);
  if (model.described?.platform === 'moontide_lua' && model.version === model.described.versions.at(-1)) { // calls are the latest's
    ways.push(...model.functions.map((one) => [`${one.function}(${one.parameters.join(', ')})`, () => call(model, one)]));
  }
  const kind = model.described?.platform.replace('moontide_', '') ?? model.state.toLowerCase();
  return element('li', {},
    element('div', {class: 'name'}, element('strong', {}, model.name), element('span', {class: 'quiet'}, `${model.version && `v${model.version} · `}${kind}`)),
    model.reason ? element('p', {class: 'bad'}, model.reason) : null,
    ...ways.map(([text, open]) => element('button', {type: 'button', onclick: (event) => {
      part('models').querySelectorAll('button').forEach((one) => one.setAttribute('aria-current', String(one === event.currentTarget)));
      choose(model);
      open();
    }}, text)));
}

function choose(model) {
  if (chosen?.name === model.name && chosen?.version === model.version) return;
  chosen = model;
  charts = new Charts();
  part('live').hidden = false;
  part('live').replaceChildren(element('h2', {}, `${model.name}, live`), charts.part);
}

function inference(model) {
  const fields = model.described.inputs.map((spec) => new TensorField(spec));
  const path = `v2/models/${named(model.name)}/versions/${named(model.version)}/infer`;
  sheet(model.name, 'tensors in, tensors out', fields, path, () => ({inputs: fields.map((one) => one.value())}));
}

function call(model, told) {
  const names = told.parameters.filter((name) => name !== '...');
  const fields = names.map((name) => new ValueField(name));
  const rest = told.parameters.includes('...') ? [new ValueField('more arguments, a JSON list')] : [];
  sheet(told.function, `a function of ${model.name}`, [...fields, ...rest], `call/${named(model.name)}/${named(told.function)}`, () => {
    const given = [...fields.map((one) => one.value()), ...(rest[0]?.value() ?? [])];
    while (given.length && given[given.length - 1] === null) given.pop();
    return given;
  });
}

// A form, what it sends, and what comes back.
function sheet(title, about, fields, path, body) {
  const answer = element('div', {class: 'answer', role: 'status'});
  const button = element('button', {class: 'main'}, 'Send');
  const form = element('form', {class: 'sheet', novalidate: true},
    element('div', {class: 'head'}, element('h1', {}, title), element('span', {class: 'quiet'}, about)),
    ...fields.map((one) => one.part),
    fields.length ? null : element('p', {class: 'quiet'}, 'It takes nothing.'),
    element('div', {class: 'row'}, button, element('span', {class: 'quiet'}, 'or Ctrl + Enter')),
    answer);
  const send = async () => {
    button.disabled = true;
    try {
      const content = body();
      const began = performance.now();
      const told = await post(path, content);
      answer.replaceChildren(shown(told, performance.now() - began), command(curl('POST', path, content)));
    } catch (error) {
      answer.replaceChildren(element('p', {class: 'bad'}, `${error.status ? `${error.status}: ` : ''}${error.message}`));
    } finally {
      button.disabled = false;
    }
  };
  form.addEventListener('submit', (event) => { event.preventDefault(); send(); });
  form.addEventListener('keydown', (event) => { if (event.key === 'Enter' && event.ctrlKey && event.target.tagName === 'TEXTAREA') send(); });
  part('work').replaceChildren(form);
}

async function look() {
  if (document.hidden || !charts || !chosen) return;
  try {
    const {model_stats: [told]} = await get(`v2/models/${named(chosen.name)}/versions/${named(chosen.version)}/stats`);
    charts.add(told, performance.now() / 1000);
    part('server').textContent = version;
    part('server').classList.remove('bad');
  } catch (error) {
    part('server').textContent = error.message;
    part('server').classList.add('bad');
  }
}

start();
