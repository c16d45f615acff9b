// A PNG whose pixels are numbers of colours, as a mask is: a canvas can only write the colours themselves.

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

// `pixels` are numbers below 256, row after row; `colours` such as [230, 159, 0], one a number.
export async function indexedPng(width, height, pixels, colours) {
  const header = new Uint8Array(13);
  const fields = new DataView(header.buffer);
  fields.setUint32(0, width);
  fields.setUint32(4, height);
  header.set([8, 3, 0, 0, 0], 8); // eight bits a pixel, numbers of colours
  const rows = new Uint8Array((width + 1) * height); // a zero before each row: it is stored as it is
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const packed = new Response(new Blob([rows]).stream().pipeThrough(new CompressionStream("deflate")));
  const data = new Uint8Array(await packed.arrayBuffer());
  const parts = [chunk("IHDR", header), chunk("PLTE", Uint8Array.from(colours.flat())), chunk("IDAT", data), chunk("IEND", [])];
  return new Blob([Uint8Array.from(SIGNATURE), ...parts], { type: "image/png" });
}

function chunk(name, data) {
  const out = new Uint8Array(12 + data.length);
  const fields = new DataView(out.buffer);
  fields.setUint32(0, data.length);
  out.set(Array.from(name, (letter) => letter.charCodeAt(0)), 4);
  out.set(data, 8);
  fields.setUint32(8 + data.length, checksum(out.subarray(4, 8 + data.length)));
  return out;
}

function checksum(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255] ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
}
