import type { IncomingHttpHeaders } from 'node:http'
import type { Scenario } from '../traits.ts'
import type { ImageAnswer, Links } from './image-wire.ts'
import type { ImageQuestion } from './image-question.ts'
import type { Canvas } from './paint.ts'
import type { MadePicture, PictureNote, Pictures } from './pictures.ts'
import { moderatedBy } from './refuse-image.ts'

/** The pictures of a question with every flaw the scenario asks for. */
export async function answerOf(
  scenario: Scenario,
  question: ImageQuestion,
  pictures: Pictures,
  { charged, links, canvas }: { charged: boolean; links: Links; canvas: Canvas | null },
): Promise<ImageAnswer> {
  const moderated = moderatedBy(scenario)
  const made: MadePicture[] = []
  for (let number = 1; number <= (charged ? countOf(scenario, question) : 0); number++) {
    made.push(await pictures.make(scenario, question, number, canvas))
  }
  let damaged = false
  return {
    scenario,
    question,
    pictures: made,
    moderated,
    links,
    base64(content) {
      const base64 = content.toString('base64')
      if (damaged || !scenario.has('bad-base64')) return base64
      damaged = true
      return `!${base64.slice(1)}`
    },
  }
}

function countOf(scenario: Scenario, { n }: ImageQuestion): number {
  if (scenario.has('empty-data')) return 0
  if (scenario.has('one-more')) return n + 1
  return scenario.has('wrong-count') ? n - 1 : n
}

const extensions = { png: 'png', jpeg: 'jpg', webp: 'webp', text: 'png' }

export function linksOf(scenario: Scenario, headers: IncomingHttpHeaders, prefix: string): Links {
  const host = headers.host ?? ''
  const fileHost = scenario.has('foreign-files') ? host.replace(/^[^:]+/, 'localhost') : host
  return {
    at: (path) => `http://${host}/${prefix}/${path}`,
    file: ({ sha256, format }: PictureNote) =>
      `http://${fileHost}/${prefix}/_file/${sha256}.${extensions[format]}`,
  }
}
