/** Characters 128 to 255 of the code pages of MS-DOS, which Node.js doesn't have. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
  '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
  '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

/** Code pages by the language of a Windows collation (the low 16 bits of its LCID); all others have 1252. */
const BY_LANGUAGE: readonly (readonly [encoding: string, languages: readonly number[]])[] = [
  ['windows-874', [0x41e]],
  ['shift_jis', [0x411]],
  ['gbk', [0x804]],
  ['euc-kr', [0x412]],
  ['big5', [0x404, 0xc04, 0x1404]],
  ['windows-1250', [0x405, 0x40e, 0x415, 0x418, 0x41a, 0x41b, 0x41c, 0x424, 0x442, 0x81a, 0x141a]],
  ['windows-1251', [0x402, 0x419, 0x422, 0x423, 0x42f, 0x43f, 0x444, 0x46d, 0x485, 0x82c, 0xc1a, 0x201a]],
  ['windows-1253', [0x408]],
  ['windows-1254', [0x41f, 0x42c, 0x443]],
  ['windows-1255', [0x40d]],
  ['windows-1256', [0x401, 0x420, 0x429, 0x480, 0x48c]],
  ['windows-1257', [0x425, 0x426, 0x427]],
  ['windows-1258', [0x42a]],
];

/** Code pages by the sort order of a collation of older servers (SQL_...); all others have 1252. */
const BY_SORT_ORDER: readonly (readonly [encoding: string, first: number, last: number])[] = [
  ['cp437', 30, 34],
  ['cp850', 40, 49],
  ['cp850', 55, 61],
  ['windows-1250', 80, 96],
  ['windows-1251', 104, 108],
  ['windows-1253', 112, 124],
  ['windows-1254', 128, 130],
  ['windows-1255', 136, 138],
  ['windows-1256', 144, 146],
  ['windows-1257', 152, 160],
];

const UTF8 = 1 << 26;

/** The encoding of texts that aren't Unicode, by the five bytes of their collation (MS-TDS 2.2.5.1.2). */
function encodingOf(collation: Buffer): string {
  const info = collation.readUInt32LE(0);
  if ((info & UTF8) !== 0) return 'utf-8';
  const sortOrder = collation.readUInt8(4);
  const found =
    sortOrder === 0
      ? BY_LANGUAGE.find(([, languages]) => languages.includes(info & 0xffff))
      : BY_SORT_ORDER.find(([, first, last]) => sortOrder >= first && sortOrder <= last);
  return found?.[0] ?? 'windows-1252';
}

/** Texts of a collation; its language is read once for each column. */
export function decoderOf(collation: Buffer): (text: Buffer) => string {
  const encoding = encodingOf(collation);
  if (encoding === 'cp437' || encoding === 'cp850') {
    const upper = encoding === 'cp437' ? CP437 : CP850;
    return (text) => {
      let decoded = '';
      for (const byte of text) decoded += byte < 128 ? String.fromCharCode(byte) : (upper[byte - 128] ?? '');
      return decoded;
    };
  }
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  return (text) => decoder.decode(text);
}
