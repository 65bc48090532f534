// Tensors as flat lists with a shape: from JSON, .npy and .csv files, and pictures.
export const count = (shape) => shape.reduce((a, b) => a * b, 1);

// The smallest and the largest of many numbers: as arguments of Math.min, a large tensor would overflow the stack.
export const limits = (data) => data.reduce(([low, top], one) => [Math.min(low, one), Math.max(top, one)], [Infinity, -Infinity]);

export function shapeOf(value) {
  const shape = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

export function nested(data, shape) {
  if (shape.length <= 1) return data;
  const step = count(shape.slice(1));
  return Array.from({length: shape[0]}, (_, i) => nested(data.slice(i * step, (i + 1) * step), shape.slice(1)));
}

const READERS = {
  f4: ['getFloat32', 4], f8: ['getFloat64', 8], i1: ['getInt8', 1], u1: ['getUint8', 1], i2: ['getInt16', 2],
  u2: ['getUint16', 2], i4: ['getInt32', 4], u4: ['getUint32', 4], i8: ['getBigInt64', 8], u8: ['getBigUint64', 8],
  b1: ['getUint8', 1],
};

// numpy's own format, version 1 to 3: a header in Python's words, then the numbers.
export function npy(buffer) {
  const view = new DataView(buffer);
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY
  if (buffer.byteLength < 12 || magic.some((byte, place) => view.getUint8(place) !== byte)) throw new Error('this is no .npy file');
  const long = view.getUint8(6) > 1;
  const begin = (long ? 12 : 10) + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const head = new TextDecoder().decode(new Uint8Array(buffer, 10, begin - 10));
  const kind = /'descr':\s*'([<>|=])(\w+)'/.exec(head);
  const sizes = /'shape':\s*\(([^)]*)\)/.exec(head);
  if (!kind || !sizes || !(kind[2] in READERS)) throw new Error(`numbers of this kind are not read: ${head.slice(0, 80)}`);
  if (/'fortran_order':\s*True/.test(head)) throw new Error('the array is in Fortran order: save np.ascontiguousarray(x)');
  const shape = sizes[1].split(',').filter((part) => part.trim()).map(Number);
  const [read, size] = READERS[kind[2]];
  const data = Array.from({length: count(shape)}, (_, i) => Number(view[read](begin + i * size, kind[1] !== '>')));
  return {shape, data};
}

export function csv(text) {
  const rows = text.trim().split(/\r?\n/).map((line) => line.split(/[,;\t ]+/).map(Number));
  if (rows.some((row) => row.length !== rows[0].length || row.some(Number.isNaN))) throw new Error('rows of numbers were expected');
  return {shape: [rows.length, rows[0].length], data: rows.flat()};
}

// How a tensor is a picture: planes, height and width among its sizes; null where it is none.
export function picture(shape) {
  const sizes = shape.filter((size, place) => !(place === 0 && shape.length > 1 && (size === -1 || size === 1)) || shape.length <= 2);
  const known = sizes.length > shape.length - 1 && shape.length > 2 ? shape : sizes;
  if (known.length === 3 && (known[0] === 1 || known[0] === 3)) return {planes: known[0], height: known[1], width: known[2]};
  if (shape.length === 2 || shape.length === 1) {
    const side = Math.sqrt(shape[shape.length - 1]);
    if (Number.isInteger(side) && side >= 6) return {planes: 1, height: side, width: side};
  }
  if (known.length === 2 && known[0] >= 8 && known[1] >= 8) return {planes: 1, height: known[0], width: known[1]};
  return null;
}

// The planes of a canvas as numbers: gray or colours, scaled to 0..most, inverted if asked.
export function planes(canvas, form, most, inverted) {
  const {data} = canvas.getContext('2d').getImageData(0, 0, form.width, form.height);
  const pixels = form.width * form.height;
  const value = (i, plane) => form.planes === 3 ? data[4 * i + plane] : 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2];
  return Array.from({length: form.planes * pixels}, (_, k) => {
    const level = value(k % pixels, Math.floor(k / pixels)) / 255;
    return +((inverted ? 1 - level : level) * most).toFixed(4);
  });
}
