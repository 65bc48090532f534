// The routes as /openapi.json describes them.
import {curl, get} from './api.js';
import {copied, element} from './dom.js';

async function start() {
  const main = document.querySelector('main');
  try {
    const told = await get('openapi.json');
    document.getElementById('server').textContent = told.info.version;
    const resolved = (schema) => schema?.$ref ? told.components.schemas[schema.$ref.split('/').pop()] : schema;
    main.replaceChildren(element('h1', {}, 'API'), element('p', {class: 'quiet'}, told.info.description),
      ...Object.entries(told.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => route(path, method, one, resolved))));
  } catch (error) {
    main.replaceChildren(element('p', {class: 'bad'}, error.message));
  }
}

function route(path, method, told, resolved) {
  const body = told.requestBody?.content['application/json'].schema;
  const filled = told.parameters.reduce((whole, one) => whole.replace(`{${one.name}}`, one.example ?? one.name), path);
  const line = curl(method.toUpperCase(), filled.slice(1), body ? method === 'post' && path.startsWith('/call') ? '[]' : '{}' : undefined);
  return element('details', {class: 'route'},
    element('summary', {}, element('span', {class: 'method'}, method.toUpperCase()), ' ', element('code', {}, path), ' ', element('span', {class: 'quiet'}, told.summary)),
    element('div', {},
      told.parameters.length ? element('div', {}, element('h3', {}, 'In the path'), rows(told.parameters.map((one) => [one.name, `for example ${one.example ?? one.name}`]))) : null,
      body ? element('div', {}, element('h3', {}, 'Body'), element('pre', {}, JSON.stringify(resolved(body), null, 1))) : null,
      element('h3', {}, 'Answers'),
      rows(Object.entries(told.responses).map(([status, one]) => [status, one.description])),
      element('h3', {}, 'From a shell'), element('pre', {}, line), copied(line)));
}

function rows(pairs) {
  return element('table', {}, ...pairs.map(([name, text]) => element('tr', {}, element('th', {scope: 'row'}, name), element('td', {class: 'text'}, text))));
}

start();
