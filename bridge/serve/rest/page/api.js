// Requests to this server, wherever it is mounted; with the token that was given in this tab.
const KEY = 'moontide-token';
export const place = new URL('.', document.baseURI);

export class Refusal extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

// Ask for the token once, whoever needs it first; all others wait for the same answer.
let asking = null;
function ask() {
  asking ??= new Promise((done) => {
    const dialog = document.getElementById('ask');
    dialog.addEventListener('close', () => {
      sessionStorage.setItem(KEY, document.getElementById('token').value.trim());
      asking = null;
      done();
    }, {once: true});
    dialog.showModal();
  });
  return asking;
}

function headers(more) {
  const token = sessionStorage.getItem(KEY);
  return token ? {...more, authorization: `Bearer ${token}`} : more;
}

export async function request(method, path, body) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = () => fetch(new URL(path, place), {method, body: text, headers: headers({'content-type': 'application/json'})});
  let response = await sent();
  while (response.status === 401 && document.getElementById('ask')) {
    await ask();
    response = await sent();
  }
  const answer = await response.text();
  let told;
  try { told = JSON.parse(answer); } catch { throw new Refusal(response.status, answer || response.statusText); }
  if (!response.ok) throw new Refusal(response.status, told.error ?? answer);
  return told;
}

export const get = (path) => request('GET', path);
export const post = (path, body) => request('POST', path, body);

export function curl(method, path, body) {
  const token = sessionStorage.getItem(KEY) ? " -H 'Authorization: Bearer TOKEN'" : '';
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const data = body === undefined ? '' : ` -d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`;
  return `curl -sS${method === 'GET' || data ? '' : ` -X ${method}`}${token} ${quoted(String(new URL(path, place)))}${data}`;
}
