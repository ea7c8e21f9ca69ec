/** Columns and rows of one character; the last row is for the tails of g, j, p, q and y. */
export const glyphWidth = 5
export const glyphHeight = 8

/** The characters from space to tilde. Each digit, in base 32, is one row of five dots, from the top. */
const glyphs = [
  '00000000 44444040 aaa00000 aavavaa0 4fke5u40 op248j30 cik8lid0 44000000',
  '24888420 84222480 04lel400 044v4400 00000448 000v0000 00000cc0 01248g00',
  'ehjlphe0 4c4444e0 eh1248v0 v2421he0 26aiv220 vgu11he0 68guhhe0 v1248880',
  'ehhehhe0 ehhf12c0 0cc0cc00 04404480 248g8420 00v0v000 84212480 eh124040',
  'eh1dlle0 ehhvhhh0 uhhuhhu0 ehggghe0 sihhhis0 vgguggv0 vgguggg0 ehgnhhf0',
  'hhhvhhh0 e44444e0 72222ic0 hikokih0 ggggggv0 hrllhhh0 hhpljhh0 ehhhhhe0',
  'uhhuggg0 ehhhlid0 uhhukih0 fgge11u0 v4444440 hhhhhhe0 hhhhha40 hhhllla0',
  'hha4ahh0 hha44440 v1248gv0 e88888e0 0g842100 e22222e0 4ah00000 000000v0',
  '84000000 00e1fhf0 ggmphhu0 00egghe0 11djhhf0 00ehvge0 698s8880 00fhhf1e',
  'ggmphhh0 40c444e0 206222ic ggikoki0 c44444e0 00qllhh0 00mphhh0 00ehhhe0',
  '00uhhugg 00fhhf11 00mpggg0 00fge1u0 88s88960 00hhhjd0 00hhha40 00hhlla0',
  '00ha4ah0 00hhhf1e 00v248v0 24484420 44444440 84424480 008l2000',
].flatMap((row) => row.split(' '))

/** For characters of other scripts: an empty box. */
const box = 'vhhhhhv0'

/** The rows of a character: bit 4 is the leftmost dot. */
export function glyphOf(character: string): number[] {
  const digits = glyphs[(character.codePointAt(0) ?? 0) - 32] ?? box
  return Array.from(digits, (digit) => Number.parseInt(digit, 32))
}

/** Text as this font can show it: letters without their accents, and no line ends. */
export function drawable(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/\s+/gu, ' ')
}
