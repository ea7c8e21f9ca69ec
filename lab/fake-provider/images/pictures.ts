import { createHash } from 'node:crypto'
import type { Scenario } from '../traits.ts'
import { drawn } from './draw.ts'
import { encoded, filled, withManifest, type Format } from './encode.ts'
import type { ImageQuestion } from './image-question.ts'
import { resized, type Canvas } from './paint.ts'

/** What the log says of a picture. */
export type PictureNote = {
  sha256: string
  bytes: number
  /** `text` under `not-a-picture`. */
  format: Format | 'text'
  width: number
  height: number
}

export type Picture = PictureNote & { content: Buffer }

/** As many of the last pictures as tests compare or clients download late. */
const maxKeptBytes = 200_000_000

/** Makes pictures, counts them, and keeps the last ones for those who ask again. */
export class Pictures {
  readonly #kept = new Map<string, Picture>()
  #keptBytes = 0
  #serial = 0

  /** Counts on for each picture, so that the same prompt bought twice gives other bytes. */
  async make(
    scenario: Scenario,
    question: ImageQuestion,
    number: number,
    canvas: Canvas | null,
  ): Promise<MadePicture> {
    const serial = ++this.#serial
    const picture = await pictureOf(scenario, question, { number, serial, preview: null }, canvas)
    this.#keep(picture)
    const previews: Buffer[] = []
    for (let preview = 1; preview <= (question.previews ?? 0); preview++) {
      const { content } = await pictureOf(scenario, question, { number, serial, preview }, canvas)
      previews.push(content)
    }
    return { ...picture, previews }
  }

  find(sha256: string): Picture | undefined {
    return this.#kept.get(sha256)
  }

  #keep(picture: Picture): void {
    this.#kept.set(picture.sha256, picture)
    this.#keptBytes += picture.bytes
    for (const oldest of this.#kept.values()) {
      if (this.#keptBytes <= maxKeptBytes) return
      this.#kept.delete(oldest.sha256)
      this.#keptBytes -= oldest.bytes
    }
  }
}

export type MadePicture = Picture & { previews: Buffer[] }

export function noteOf({ sha256, bytes, format, width, height }: Picture): PictureNote {
  return { sha256, bytes, format, width, height }
}

const otherFormats: Record<Format, Format> = { png: 'webp', jpeg: 'webp', webp: 'png' }

type Place = { number: number; serial: number; preview: number | null }

async function pictureOf(
  scenario: Scenario,
  question: ImageQuestion,
  place: Place,
  canvas: Canvas | null,
): Promise<Picture> {
  const { prompt, n, height, transparent, quality } = question
  const width = scenario.has('wrong-size') ? Math.ceil(question.width / 2) : question.width
  if (scenario.has('not-a-picture')) {
    return described(Buffer.from(`This is no picture. #${place.serial}\n`), { format: 'text', width, height })
  }
  const format = scenario.has('wrong-format') ? otherFormats[question.format] : question.format
  const shape = { width, height, format, quality }
  const content =
    canvas === null
      ? await encoded(drawn({ prompt, of: n, width, height, transparent, ...place }), shape)
      : await encoded((await resized(canvas, width, height)).pixels, {
          ...shape,
          note: noteFor(place, n),
          lossless: quality === 100,
        })
  const marked = scenario.has('c2pa') ? withManifest(content, format) : content
  return described(filled(marked, format, scenario.amount('bytes-N') ?? 0), { format, width, height })
}

function noteFor({ number, serial, preview }: Place, of: number): string {
  return `${number} of ${of}${preview === null ? '' : `, preview ${preview}`} #${serial}`
}

function described(content: Buffer, about: Pick<Picture, 'format' | 'width' | 'height'>): Picture {
  return {
    ...about,
    content,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }
}
