/** Bodies of forms, valid and broken in every imaginable way. */
import type { Random } from '#test/support/random.ts'

export interface FormCase {
  readonly contentType: string | undefined
  readonly contentLength: string | undefined
  readonly chunks: readonly Buffer[]
  readonly ending: 'end' | 'close' | 'error' | 'stall'
  /** What a valid form must be read as: names and values, and files by their names. */
  readonly expected: readonly SoundPart[] | undefined
}

export interface SoundPart {
  readonly name: string
  readonly value: Buffer
  readonly isFile: boolean
}

type Pick = <Value>(...values: readonly Value[]) => Value

const TYPICAL = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
const ODD_BOUNDARIES = [
  'b',
  '-',
  '--',
  '0',
  "a'()+_,-./:=?b",
  'with a space',
  'B'.repeat(70),
  '\\"',
  ';',
  'a;b=c',
]
const BAD_BOUNDARIES = ['', ' ', 'B'.repeat(71), 'B'.repeat(300), 'ümlaut', '\0', 'ends ', 'a\tb']
const ODD_NAMES = [
  'image[0][a]',
  'image[',
  'image]',
  'image[-1]',
  'image[1e3]',
  'image[99999999]',
  '__proto__',
]
const MORE_NAMES = [
  'constructor',
  '',
  ' ',
  'größe',
  'a'.repeat(100),
  'a'.repeat(101),
  'a\0b',
  'a\\"b',
  'mask[1]',
  'IMAGE',
]
const SOUND_NAMES = [
  'prompt',
  'model',
  'n',
  'size',
  'quality',
  'user',
  'größe',
  'constructor',
  '__proto__',
  'x',
]
const LINE_BREAKS = ['\r\n', '\n', '\r', '\r\n\r\n', '\n\r', '']

export function formCase(random: Random, pictures: readonly Buffer[]): FormCase {
  const pick: Pick = (...values) => values[random.below(values.length)] as never
  const isSound = random.next() < 0.3
  const boundary = random.next() < 0.6 ? TYPICAL : pick(...ODD_BOUNDARIES)
  if (isSound) {
    const parts = soundParts(random, pick, pictures).filter(({ value }) => !holds(value, boundary))
    const body = encode(parts, boundary, pick)
    const chunks = cut(body, random, boundary)
    return { contentType: typeOf(boundary), contentLength: undefined, chunks, ending: 'end', expected: parts }
  }
  const isBig = random.next() < 0.0005
  const parts = Array.from({ length: isBig ? 10_000 : random.below(7) }, () =>
    oddPart(random, pick, pictures, boundary),
  )
  let body: Buffer = Buffer.concat([
    Buffer.from(random.next() < 0.9 ? '' : pick('\r\n', 'preamble\r\n', ' ', '--')),
    ...parts.flatMap((part) => [
      Buffer.from(`--${boundary}${pick('\r\n', '\r\n', '\r\n', ...LINE_BREAKS)}`, 'latin1'),
      part,
    ]),
    Buffer.from(
      `--${boundary}${pick('--\r\n', '--\r\n', '--', '-', '', '\r\n', '--more', `--\r\n--${boundary}\r\n`)}`,
      'latin1',
    ),
  ])
  for (let changes = isBig ? 0 : random.below(4); changes > 0; changes -= 1)
    body = changed(body, random, pick, boundary)
  return {
    contentType: oddType(random, pick, boundary),
    contentLength: random.next() < 0.98 ? undefined : pick('0', '999999999', 'x', '-1'),
    chunks: cut(body, random, boundary),
    ending:
      random.next() < 0.85
        ? 'end'
        : pick('close', 'error', 'close', 'error', random.next() < 0.1 ? 'stall' : 'error'),
    expected: undefined,
  }
}

/** Such a value can't be sent with this boundary. */
function holds(value: Buffer, boundary: string): boolean {
  return Buffer.concat([Buffer.from('\r\n'), value]).includes(`\r\n--${boundary}`)
}

function typeOf(boundary: string): string {
  return `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"`
}

function oddType(random: Random, pick: Pick, boundary: string): string | undefined {
  if (random.next() < 0.85) return typeOf(boundary)
  return pick(
    undefined,
    '',
    'multipart/form-data',
    'application/json',
    'multipart/mixed; boundary=b',
    `multipart/form-data; boundary=${boundary}`,
    `Multipart/Form-Data; charset=utf-8; BOUNDARY="${boundary}"; boundary=other`,
    `multipart/form-data; boundary="${pick(...BAD_BOUNDARIES)}"`,
    `multipart/form-data; boundary=${pick(...BAD_BOUNDARIES)}`,
    'multipart/form-data; boundary="open',
    'multipart/form-data;boundary',
    '/;=',
  )
}

function soundParts(random: Random, pick: Pick, pictures: readonly Buffer[]): SoundPart[] {
  const names = SOUND_NAMES.filter(() => random.next() < 0.4)
  const fields = names.map((name) => ({ name, value: text(random, pick), isFile: false }))
  const style = pick('image', 'image[]')
  const files = Array.from({ length: random.below(4) }, () => ({
    name: style,
    value: pick(...pictures),
    isFile: true,
  }))
  if (random.next() < 0.3)
    files.push({ name: pick('mask', 'mask[]', 'markup'), value: pick(...pictures), isFile: true })
  return [...fields, ...files].sort(() => random.next() - 0.5)
}

/** Includes texts that look like the beginning of a boundary. */
function text(random: Random, pick: Pick): Buffer {
  const pieces = Array.from({ length: random.below(6) }, () =>
    pick('\r\n', '--', '\r\n--', '-', 'a bear', 'ä🐻', '\r', '\n', '\0'),
  )
  return Buffer.from(pieces.join(''))
}

function encode(parts: readonly SoundPart[], boundary: string, pick: Pick): Buffer {
  const pieces = parts.flatMap(({ name, value, isFile }) => {
    const filename = isFile
      ? pick('', '; filename="a.png"', '; filename=a.png', `; filename="a\\"b;c.png"; filename*=utf-8''x`)
      : ''
    const type = pick(
      '',
      'Content-Type: text/plain\r\n',
      'content-type: image/png\r\n',
      'X-Odd:\r\n folded\r\n',
    )
    return [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n${type}\r\n`,
      ),
      value,
      Buffer.from('\r\n'),
    ]
  })
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--${pick('', '\r\n', '\r\n\r\n')}`)])
}

function oddPart(random: Random, pick: Pick, pictures: readonly Buffer[], boundary: string): Buffer {
  const name =
    random.next() < 0.7
      ? pick('image', 'image[]', 'image[1]', 'mask', 'markup', 'prompt', 'n')
      : pick(...ODD_NAMES, ...MORE_NAMES)
  const disposition =
    random.next() < 0.75
      ? `Content-Disposition: form-data; name="${name}"${pick('', '; filename="a.png"')}`
      : pick(
          '',
          `content-disposition: form-data; name=${name}`,
          `content-disposition:form-data;name="${name}";filename=`,
          `content-disposition: attachment; name="${name}"`,
          `content-disposition: form-data; name="${name}"; name="${name}"`,
          `content-disposition: form-data;\r\n name="${name}"`,
          `content-disposition: form-data;\n name="${name}"`,
          `content-disposition : form-data; name="${name}"`,
          `content-disposition: form-data; name="${name}`,
          `content-disposition: form-data; name*=utf-8''${name}`,
          `content-disposition: ${'form-data; '.repeat(50)}`,
          `content-disposition: form-data; name="${name}"\r\ncontent-disposition: form-data; name="b"`,
          `content-disposition: form-data; name="${name}"\0`,
          'no colon',
          ': nothing',
        )
  const others =
    random.next() < 0.7
      ? ''
      : pick(
          '\r\ncontent-type: image/png',
          '\r\ncontent-type: text/plain; charset*',
          '\r\ncontent-type: text/plain; charset=utf-16',
          '\r\ncontent-transfer-encoding: base64',
          '\r\ncontent-transfer-encoding: 8BIT',
          `\r\nx: ${'y'.repeat(random.below(20_000))}`,
          '\r\nx: y'.repeat(random.below(50)),
          '\r\n__proto__: x',
          '\r\n\tfolded',
          '\r\nbroken',
        )
  const picture = pick(...pictures)
  const value =
    random.next() < 0.5
      ? picture
      : pick(
          Buffer.alloc(0),
          text(random, pick),
          picture.subarray(0, random.below(picture.length)),
          Buffer.from(`\r\n--${boundary}`, 'latin1'),
          Buffer.alloc(random.below(3000), random.below(256)),
          Buffer.concat([picture, Buffer.alloc(random.next() < 0.05 ? 70_000 : 100)]),
        )
  const end = random.next() < 0.9 ? '\r\n' : pick(...LINE_BREAKS)
  const gap = random.next() < 0.93 ? '\r\n\r\n' : pick(...LINE_BREAKS)
  return Buffer.concat([
    Buffer.from(disposition + others + gap, random.next() < 0.8 ? 'utf8' : 'latin1'),
    value,
    Buffer.from(end),
  ])
}

function changed(body: Buffer, random: Random, pick: Pick, boundary: string): Buffer {
  const at = random.below(body.length + 1)
  const to = Math.min(body.length, at + random.below(40))
  const between = (middle: Buffer): Buffer => Buffer.concat([body.subarray(0, at), middle, body.subarray(to)])
  return pick(
    () => body.subarray(0, at),
    () => body.subarray(at),
    () => between(Buffer.alloc(0)),
    () => between(Buffer.from(Array.from({ length: 8 }, () => random.below(256)))),
    () => between(Buffer.concat([body.subarray(at, to), body.subarray(at, to)])),
    () => between(Buffer.from(`\r\n--${boundary}${pick('', '\r\n', '--')}`, 'latin1')),
    () => between(Buffer.from('\0')),
    () => Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    () => Buffer.from(body.toString('latin1').replaceAll(`\r\n--${boundary}`, `--${boundary}`), 'latin1'),
    () => Buffer.concat([body, body]),
    () => body,
  )()
}

/** The last is the slowest. */
const CUTS = [3, 3, 3, 1].map((weight, kind) => ({ weight, kind }))

function cut(body: Buffer, random: Random, boundary: string): Buffer[] {
  const kind = random.pick(CUTS).kind
  if (kind === 0 || body.length === 0) return body.length === 0 ? [] : [body]
  if (kind === 1) return pieces(body, () => 1 + random.below(4000))
  // Within a boundary, where a parser has to remember what came before.
  if (kind === 2) {
    const start = Math.max(0, body.indexOf(`--${boundary}`, random.below(body.length)))
    const first = start + random.below(boundary.length + 6)
    return [body.subarray(0, first), body.subarray(first, first + 1), body.subarray(first + 1)].filter(
      ({ length }) => length > 0,
    )
  }
  return body.length > 1500 ? pieces(body, () => 1 + random.below(200)) : pieces(body, () => 1)
}

function pieces(body: Buffer, size: () => number): Buffer[] {
  const found: Buffer[] = []
  for (let start = 0; start < body.length;) {
    const end = start + size()
    found.push(body.subarray(start, end))
    start = end
  }
  return found
}
