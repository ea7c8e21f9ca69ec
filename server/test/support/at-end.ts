/** What closes the servers of a test file. Node's own runner does it after the file; another runner collects it. */
import { after } from 'node:test'

type End = () => unknown

let collected: End[] | undefined

export function atEnd(end: End): void {
  if (collected === undefined) after(end)
  else collected.push(end)
}

/** For Playwright Test: what starts from here on ends when the returned function is called, the last first. */
export function collectEnds(): () => Promise<void> {
  const ends: End[] = []
  collected = ends
  return async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  }
}
