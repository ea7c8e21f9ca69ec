/** Small pages for people: HTML for a browser, else the Markdown source. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The pages contain only text and this style. */
const SAFE = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" } as const
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}code{font-family:ui-monospace,monospace}'

export function sendPage({ headers }: FastifyRequest, reply: FastifyReply, markdown: string): FastifyReply {
  reply.raw.appendHeader('vary', 'accept')
  void reply.headers({ 'x-content-type-options': 'nosniff', ...SAFE })
  return headers.accept?.includes('text/html') === true
    ? reply.type('text/html; charset=utf-8').send(htmlOf(markdown))
    : reply.type('text/markdown; charset=utf-8').send(markdown)
}

/** Supports the Markdown of these pages: headings, lists, paragraphs, code, bold words and links. */
function htmlOf(markdown: string): string {
  const title = /^#+ (.*)$/m.exec(markdown)?.[1] ?? 'Torana'
  const blocks = markdown.trim().split(/\n{2,}/)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)} · Torana</title><style>${STYLE}</style>${blocks.map(blockOf).join('')}</html>\n`
}

function blockOf(block: string): string {
  const [, marks, heading] = /^(#{1,3}) (.*)$/.exec(block) ?? []
  if (marks !== undefined && heading !== undefined)
    return `<h${marks.length}>${inline(heading)}</h${marks.length}>`
  if (!block.startsWith('- ')) return `<p>${inline(block)}</p>`
  const items = block.split('\n').map((line) => `<li>${inline(line.replace(/^- /, ''))}</li>`)
  return `<ul>${items.join('')}</ul>`
}

function inline(text: string): string {
  return escaped(text)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]*)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]*)\]\(([\w./-]*)\)/g, '<a href="$2">$1</a>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
