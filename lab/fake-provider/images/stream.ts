import type { ImageAnswer, Written } from './image-wire.ts'
import type { MadePicture } from './pictures.ts'
import { usageOf, type Echo, type ImageUsage } from './usage.ts'

/** The answer as events: the previews of each picture, then the picture. */
export function streamed(answer: ImageAnswer, echo: Echo): Written {
  const { scenario, pictures } = answer
  const contentType = 'text/event-stream'
  const events: string[] = []
  const prefix = answer.question.given === undefined ? 'image_generation' : 'image_edit'
  const emit = (name: string, data: object) => events.push(eventText(answer, name, JSON.stringify(data)))
  for (const [position, picture] of pictures.entries()) {
    for (const [index, preview] of picture.previews.entries()) {
      const type = `${prefix}.partial_image`
      emit(type, { type, ...pictureFields(answer, preview, echo), partial_image_index: index })
      if (scenario.has('sse-cut') || scenario.has('sse-error')) return endedEarly(answer, events)
    }
    if (scenario.has('sse-cut') || scenario.has('sse-error')) return endedEarly(answer, events)
    const type = `${prefix}.completed`
    emit(type, {
      type,
      ...pictureFields(answer, picture.content, echo),
      ...usageIn(answer, picture, position),
    })
  }
  if (scenario.has('sse-done')) events.push(`data: [DONE]${lineEnd(answer).repeat(2)}`)
  return { contentType, body: '', events }
}

function endedEarly(answer: ImageAnswer, events: string[]): Written {
  const stopped = { contentType: 'text/event-stream', body: '', events }
  if (answer.scenario.has('sse-cut')) return { ...stopped, cut: true }
  const error = { message: 'The server had an error.', type: 'server_error', param: null, code: null }
  events.push(eventText(answer, 'error', JSON.stringify({ type: 'error', error })))
  return stopped
}

function pictureFields(answer: ImageAnswer, content: Buffer, echo: Echo): object {
  const created_at = Math.floor(Date.now() / 1000)
  return { b64_json: answer.base64(content), created_at, ...(answer.scenario.has('no-echo') ? {} : echo) }
}

function usageIn(answer: ImageAnswer, picture: MadePicture, position: number): { usage?: ImageUsage } {
  const { scenario, question, pictures } = answer
  if (scenario.has('no-usage')) return {}
  const counting = scenario.has('usage-last') ? pictures.length - 1 : scenario.has('usage-first') ? 0 : null
  if (counting === null) return { usage: shareOf(answer, picture, position) }
  return position === counting ? { usage: usageOf(question, pictures) } : {}
}

/** The shares of all pictures together are the usage of the same answer in one piece: the first carries the input. */
function shareOf({ question }: ImageAnswer, picture: MadePicture, position: number): ImageUsage {
  const usage = usageOf(question, [picture])
  if (position === 0) return usage
  const { output_tokens } = usage
  const input_tokens_details = { text_tokens: 0, image_tokens: 0 }
  return { total_tokens: output_tokens, input_tokens: 0, output_tokens, input_tokens_details }
}

function eventText(answer: ImageAnswer, name: string, data: string): string {
  const end = lineEnd(answer)
  const comment = answer.scenario.has('sse-comments') ? `: still here${end}${end}` : ''
  return `${comment}event: ${name}${end}data: ${data}${end}${end}`
}

function lineEnd({ scenario }: ImageAnswer): string {
  return scenario.has('sse-crlf') ? '\r\n' : '\n'
}
