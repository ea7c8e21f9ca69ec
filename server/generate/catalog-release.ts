/** The sequence of the built-in catalogue: it grows whenever a fact changed. */
import { createHash } from 'node:crypto'
import { catalogRelease, releaseDocument } from '#config/build/feed.ts'
import { canonicalText } from '#core/feed/document.ts'

/** The day and two digits, so that several feeds of one day have their order. */
function sequenceOf(day: string): number {
  return Number(`${day.replaceAll('-', '')}00`)
}

export function catalogReleaseJson(today = new Date().toISOString().slice(0, 10)): string {
  const before = catalogRelease()
  const { providers } = releaseDocument(before)
  const digest = createHash('sha256').update(canonicalText(providers)).digest('hex')
  const isSame = digest === before.digest
  const after = {
    sequence: isSame ? before.sequence : Math.max(before.sequence + 1, sequenceOf(today)),
    made_on: isSame ? before.made_on : today,
    digest,
    keys: before.keys,
  }
  return `${JSON.stringify(after, undefined, 2)}\n`
}
