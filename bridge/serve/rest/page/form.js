// Fields for what a model or a function takes. Each has `part`, its element, and `value()`.
import {element} from './dom.js';
import {count, csv, limits, nested, npy, picture, planes, shapeOf} from './tensors.js';

const LARGEST = 4096; // elements that are shown as text
const OPEN = 8; // what an open size begins with, but the first
const whole = (datatype) => /INT/.test(datatype);

export class TensorField {
  constructor(spec) {
    this.spec = spec;
    this.free = spec.shape.length === 1 && spec.shape[0] === -1; // nothing is known: the text tells the shape
    this.shape = this.free ? [] : spec.shape.map((size, place) => size === -1 ? (place ? OPEN : 1) : size);
    this.data = [];
    const shown = spec.shape.map((size) => size === -1 ? 'any' : size).join(' × ');
    this.text = element('textarea', {'aria-label': `${spec.name}, values as JSON`, spellcheck: 'false', oninput: () => this.read()});
    this.note = element('span', {class: 'quiet', role: 'status'});
    this.sizes = element('span', {class: 'row'});
    this.canvas = null;
    this.shownPicture = element('div');
    this.pictureOptions = element('div', {class: 'row'});
    this.part = element('div', {class: 'field'},
      element('div', {class: 'label'}, spec.name, element('span', {class: 'kind'}, this.free ? `${spec.datatype}, any shape` : `${spec.datatype}, ${shown}`)),
      this.sizes,
      element('div', {class: 'row'},
        element('button', {type: 'button', onclick: () => this.fill(() => 0)}, 'Zeros'),
        element('button', {type: 'button', onclick: () => this.fill(() => whole(spec.datatype) ? Math.floor(1 + 9 * Math.random()) : +Math.random().toFixed(4))}, 'Random'),
        element('label', {class: 'button'}, 'File or picture …', element('input', {type: 'file', accept: 'image/*,.npy,.json,.csv', 'aria-label': `${spec.name}, a file`, onchange: (event) => this.load(event.target)})),
        this.note),
      element('div', {class: 'content'}, this.shownPicture, this.text), this.pictureOptions);
    this.askSizes();
    this.offerPicture();
    if (this.free) this.text.value = '[1, 2, 3]', this.read();
    else this.fill(() => 0);
  }

  askSizes() {
    this.sizes.replaceChildren(...this.spec.shape.flatMap((size, place) => {
      if (size !== -1 || this.free) return [];
      const name = place ? `size ${place}` : 'rows';
      return [element('label', {class: 'quiet'}, `${name} `, element('input', {class: 'size', type: 'number', min: '1', value: String(this.shape[place]), oninput: (event) => {
        this.shape[place] = Math.max(1, Math.floor(+event.target.value) || 1);
        this.offerPicture();
        this.fill(() => 0);
      }}))];
    }));
  }

  // A picture to look at and to draw in, where the shape is one of a single picture.
  offerPicture() {
    const one = this.spec.shape[0] === -1 ? [1, ...this.shape.slice(1)] : this.shape;
    this.form = this.free || this.shape[0] !== 1 && this.spec.shape[0] === -1 || whole(this.spec.datatype) && this.spec.shape.length < 3 ? null : picture(one);
    this.shownPicture.replaceChildren();
    this.pictureOptions.replaceChildren();
    if (!this.form) return;
    const {width, height} = this.form;
    const side = Math.max(1, Math.round(192 / Math.max(width, height)));
    this.canvas = element('canvas', {class: 'picture draw', width: String(width), height: String(height), role: 'img', 'aria-label': `${this.spec.name} as a picture, to draw in`});
    this.canvas.style.width = `${side * width}px`;
    this.most = element('select', {'aria-label': 'brightest value', onchange: () => this.takePicture()}, ...[['1', '0 to 1'], ['16', '0 to 16'], ['255', '0 to 255']].map(([value, text]) => element('option', {value}, text)));
    this.inverted = element('input', {type: 'checkbox', onchange: () => this.takePicture()});
    const pen = (event) => {
      if (!(event.buttons & 1)) return;
      const box = this.canvas.getBoundingClientRect();
      const context = this.canvas.getContext('2d');
      context.strokeStyle = '#fff';
      context.lineWidth = Math.max(1, width / 12);
      context.lineCap = 'round';
      const at = [(event.clientX - box.left) * width / box.width, (event.clientY - box.top) * height / box.height];
      context.beginPath();
      context.moveTo(...(event.type === 'pointerdown' ? at : this.last ?? at));
      context.lineTo(at[0] + 0.01, at[1]);
      context.stroke();
      this.last = at;
      this.takePicture();
    };
    this.canvas.addEventListener('pointerdown', (event) => { this.canvas.setPointerCapture(event.pointerId); pen(event); });
    this.canvas.addEventListener('pointermove', pen);
    this.shownPicture.append(this.canvas);
    this.pictureOptions.append(element('label', {class: 'quiet'}, 'values ', this.most), element('label', {class: 'quiet'}, this.inverted, ' dark on light'),
      element('span', {class: 'quiet'}, 'Draw in the picture, or take one from a file.'));
  }

  takePicture() {
    this.data = planes(this.canvas, this.form, +this.most.value, this.inverted.checked);
    this.write();
  }

  showPicture() {
    if (!this.form) return;
    const {width, height, planes: depth} = this.form;
    const image = new ImageData(width, height);
    const most = Math.max(...limits(this.data).map(Math.abs), 1e-9);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = 255 * (this.data[i + (depth === 3 ? c * width * height : 0)] ?? 0) / most;
      image.data[4 * i + 3] = 255;
    }
    this.canvas.getContext('2d').putImageData(image, 0, 0);
  }

  fill(value) {
    if (this.free && !this.shape.length) this.shape = [4];
    this.data = Array.from({length: count(this.shape)}, value);
    this.write();
    this.showPicture();
  }

  write() {
    const large = this.data.length > LARGEST;
    this.text.readOnly = large;
    this.text.value = large ? '' : JSON.stringify(nested(this.data, this.shape));
    this.note.textContent = large ? `${this.data.length.toLocaleString()} numbers, too many to show` : '';
    this.text.setCustomValidity('');
  }

  read() {
    try {
      const told = JSON.parse(this.text.value);
      const shape = shapeOf(told);
      const data = told.flat(Infinity);
      if (count(shape) !== data.length) throw new Error('rows of one length were expected');
      if (this.free || this.spec.shape.length === shape.length) this.shape = shape;
      else if (data.length !== count(this.shape)) throw new Error(`${count(this.shape)} values were expected, ${data.length} are here`);
      this.data = data;
      this.note.textContent = '';
      this.text.setCustomValidity('');
      this.askSizes();
      this.showPicture();
    } catch (error) {
      this.note.textContent = error.message;
      this.text.setCustomValidity(error.message);
    }
  }

  async load(input) {
    const [file] = input.files;
    if (!file) return;
    try {
      if (file.type.startsWith('image/')) await this.loadPicture(file);
      else {
        const told = file.name.endsWith('.npy') ? npy(await file.arrayBuffer())
          : file.name.endsWith('.csv') ? csv(await file.text())
          : ((value) => ({shape: shapeOf(value), data: value.flat(Infinity)}))(JSON.parse(await file.text()));
        this.take(told);
      }
      if (!this.note.textContent) this.note.textContent = file.name;
    } catch (error) {
      this.note.textContent = `${file.name}: ${error.message}`;
    }
    input.value = '';
  }

  take({shape, data}) {
    if (!this.free) {
      const row = count(this.spec.shape.slice(1).map((size, place) => size === -1 ? this.shape[place + 1] : size));
      if (shape.length === this.spec.shape.length) this.shape = shape;
      else if (this.spec.shape[0] === -1 && data.length % row === 0) this.shape = [data.length / row, ...this.shape.slice(1)];
      else throw new Error(`${data.length} numbers do not fit ${this.spec.shape.join(' × ')}`);
    } else this.shape = shape;
    this.data = data;
    this.askSizes();
    this.offerPicture();
    this.write();
    this.showPicture();
  }

  async loadPicture(file) {
    const image = await createImageBitmap(file);
    if (!this.form) { // nothing says how large: as it is, colours apart, no larger than 256
      const scale = Math.min(1, 256 / Math.max(image.width, image.height));
      this.spec = {...this.spec, shape: [3, Math.round(image.height * scale), Math.round(image.width * scale)]};
      this.shape = [...this.spec.shape];
      this.free = false;
      this.offerPicture();
    }
    const {width, height} = this.form;
    const context = this.canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    this.takePicture();
  }

  value() {
    if (!this.text.checkValidity()) throw new Error(`${this.spec.name}: ${this.text.validationMessage}`);
    const data = this.data;
    const datatype = this.free ? data.every((one) => typeof one === 'string') ? 'BYTES' : this.spec.datatype : this.spec.datatype;
    return {name: this.spec.name, datatype, shape: this.shape, data};
  }
}

const KINDS = {
  auto: {text: 'guess', read: (text) => { try { return JSON.parse(text); } catch { return text; } }},
  number: {text: 'number', read: (text) => { if (text.trim() === '' || Number.isNaN(+text)) throw new Error(`${text || 'nothing'} is no number`); return +text; }},
  text: {text: 'text', read: (text) => text},
  json: {text: 'JSON', read: (text) => JSON.parse(text)},
  flag: {text: 'true or false', read: (text) => !/^(|0|no|false|nil)$/i.test(text.trim())},
};

export class ValueField {
  constructor(name) {
    this.name = name;
    this.input = element('textarea', {'aria-label': name, spellcheck: 'false', rows: '1'});
    this.kind = element('select', {'aria-label': `${name}, kind`}, ...Object.entries(KINDS).map(([value, {text}]) => element('option', {value}, text)));
    this.part = element('div', {class: 'field'}, element('div', {class: 'label'}, name, this.kind), this.input);
  }

  value() {
    if (this.input.value === '' && this.kind.value === 'auto') return null;
    try { return KINDS[this.kind.value].read(this.input.value); } catch (error) { throw new Error(`${this.name}: ${error.message}`); }
  }
}
