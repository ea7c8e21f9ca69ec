/** `llms.txt`: what coding agents read. A list of the pages as Markdown, and one file with all of them. */
import type { Page, Section } from './pages.ts'

const SUMMARY =
  'Torana is a self-hosted, OpenAI-compatible gateway for embeddings and images: virtual keys, budgets, an exact ledger, load balancing and fallback, vector cache, and a guard against mixing the vectors of two models. Applications keep their OpenAI SDK and change one base URL.'

/** Pages about how Torana is made: a user does not need them. */
const OPTIONAL = /^(?:docs\/(?:decisions|inside)\/|ARCHITECTURE|CONTRIBUTING|CHANGELOG)/

export function llmsText(sections: readonly Section[], addressOf: (target: string) => string): string {
  const lists = sections.map(({ name, entries }) =>
    [
      `## ${name}`,
      '',
      ...entries.map(({ label, target, purpose }) => `- [${label}](${addressOf(target)}): ${purpose}`),
    ].join('\n'),
  )
  return `# Torana\n\n> ${SUMMARY}\n\n${lists.join('\n\n')}\n`
}

export function llmsFullText(pages: readonly Page[]): string {
  const bodies = pages
    .filter(({ source }) => !OPTIONAL.test(source))
    .map(({ title, source, body }) => `# ${title}\n\nSource: ${source}\n\n${body.trim()}\n`)
  return `# Torana\n\n> ${SUMMARY}\n\n${bodies.join('\n---\n\n')}`
}
