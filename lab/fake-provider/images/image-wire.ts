import type { IncomingHttpHeaders } from 'node:http'
import type { Form } from '../form.ts'
import type { Scenario } from '../traits.ts'
import { countField, Refusal, stringField, type Fields, type Refusal as RefusalType } from '../wire.ts'
import type { Job, Phase } from './jobs.ts'
import type { ImageQuestion, Moderated } from './image-question.ts'
import type { MadePicture, PictureNote } from './pictures.ts'

export type ImageAnswer = {
  scenario: Scenario
  question: ImageQuestion
  pictures: MadePicture[]
  moderated: Moderated
  /** Base64 with the scenario's flaws. */
  base64: (content: Buffer) => string
  links: Links
}

/** Addresses at this server, within the scenario. */
export type Links = {
  file(picture: PictureNote): string
  at(path: string): string
}

export type ImageTarget = {
  method: 'POST' | 'GET' | 'PUT'
  operation: 'generate' | 'edit' | 'submit' | 'poll' | 'cancel'
  model: string | null
  /** The job a poll asks about; null where the body names it. */
  jobId: string | null
}

export type Written = {
  status?: number
  contentType?: string
  body: string | Buffer
  headers?: Record<string, string>
  /** A stream: its events in the place of `body`. */
  events?: string[]
  /** The stream ends there, and so does the connection. */
  cut?: boolean
}

/** The language in which one provider sells pictures. */
export type ImageWire = {
  name: string
  /** The path below the scenario that a client is given as its base URL. */
  base: string
  /** Headers of which one must be there, with what it begins with; none for servers that need no key. */
  credentials: Readonly<Record<string, string>>
  maxN: number
  /** Where moderation shows: as an error, in an answer without a picture, or as a mark beside the picture. */
  moderation: 'refuses' | 'withholds' | 'marks'
  /** What a path of its own for edits takes. Without one, pictures come in the body of a generate or a submit. */
  editBodies?: readonly ('multipart' | 'json')[]
  /** Recognises a path below the scenario. */
  locate(path: string, query: URLSearchParams): ImageTarget | null
  /** The form is there when the body was one; its texts are the fields. */
  read(fields: Fields, target: ImageTarget, headers: IncomingHttpHeaders, form: Form | null): ImageQuestion
  /** What answers with the pictures at once. */
  write?: (answer: ImageAnswer) => Written
  /** What answers with a job, which is polled. */
  jobs?: JobWords
  refuse(refusal: RefusalType): string
}

export type JobWords = {
  accept: (job: Job, phase: Phase, links: Links) => Written
  /** A job that this server does not know is null. */
  progress: (job: Job | null, phase: Phase, links: Links, target: ImageTarget) => Written
}

export function json(value: object, status = 200): Written {
  return { status, body: JSON.stringify(value) }
}

/** The longest edge that is drawn; a larger picture would keep the whole server busy. */
const maxEdge = 4096

export function sizeOf(text: string): { width: number; height: number } {
  const [, width, height] = /^([1-9]\d*)x([1-9]\d*)$/.exec(text) ?? []
  return checkedSize(Number(width), Number(height), `'size' = ${text}`)
}

export function checkedSize(width: number, height: number, given: string): { width: number; height: number } {
  if (width >= 1 && height >= 1 && width <= maxEdge && height <= maxEdge) return { width, height }
  throw new Refusal(400, `Invalid value for ${given}: two edges of 1 to ${maxEdge} pixels.`, {
    code: 'invalid_value',
    param: 'size',
  })
}

/** Width and height of that shape with about `pixels` pixels, in steps of 16. */
export function shaped(ratio: string, pixels: number): { width: number; height: number } {
  const [, across = 1, down = 1] = (/^(\d+):(\d+)$/.exec(ratio) ?? []).map(Number)
  if (!/^[1-9]\d*:[1-9]\d*$/.test(ratio) || across / down > 4 || down / across > 4) {
    throw new Refusal(400, `Invalid aspect ratio '${ratio}'.`)
  }
  const step = (edge: number) => Math.max(16, Math.round(edge / 16) * 16)
  return {
    width: step(Math.sqrt((pixels * across) / down)),
    height: step(Math.sqrt((pixels * down) / across)),
  }
}

/** One of the words, or null when the field is absent. */
export function choiceField<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice | null {
  const value = stringField(fields, name)
  if (value === null) return null
  const choice = choices.find((word) => word === value)
  if (choice !== undefined) return choice
  const supported = choices.map((word) => `'${word}'`).join(', ')
  throw new Refusal(400, `Invalid value: '${value}'. Supported values are: ${supported}.`, {
    code: 'invalid_value',
    param: name,
  })
}

export function wholeField(fields: Fields, name: string, from: number, to: number): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value
  throw new Refusal(400, `'${name}' must be a whole number from ${from} to ${to}.`, {
    code: 'invalid_value',
    param: name,
  })
}

/** Width and height where both are there, else null; one alone is refused. */
export function edgeFields(fields: Fields): { width: number; height: number } | null {
  const width = countField(fields, 'width')
  const height = countField(fields, 'height')
  if (width === null && height === null) return null
  return checkedSize(width ?? 0, height ?? 0, `'width' and 'height' = ${width}, ${height}`)
}
