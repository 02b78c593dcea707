// Bytes as text within a JavaScript string: the 92 printable characters of ASCII but for quote, backslash and the one that could
// end a script element. 90 of them are bytes by themselves, the last two say that 90 or 180 are added to the next. Unlike base64
// it leaves bytes whole, which compression needs: a quarter less of brotli. Written by scripts/build/text.js.

const FIRST = 32;
const LEFT_OUT = [34, 60, 92];
const STEP = 90;

export function decodeText(text: string): Uint8Array<ArrayBuffer> {
  const digits = new Uint8Array(127);
  for (let code = FIRST, digit = 0; code < digits.length; code++) {
    if (!LEFT_OUT.includes(code)) digits[code] = digit++;
  }
  const bytes = new Uint8Array(text.length);
  let count = 0;
  let base = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = digits[text.charCodeAt(i)] ?? 0;
    if (digit < STEP) {
      bytes[count++] = base + digit;
      base = 0;
    } else {
      base = (digit - STEP + 1) * STEP;
    }
  }
  return bytes.subarray(0, count);
}
