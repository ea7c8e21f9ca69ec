/** What long work shows a person at a terminal: on standard error, and nothing anywhere else. */
import type { Output } from './output.ts'

/** What is done sooner needs no word. */
const SILENT_MS = 1000
const STEP_MS = 200
const FRAMES = ['|', '/', '-', '\\']
const CLEAR = '\r\x1b[K'

/** Shows that work of unknown length goes on. */
export async function working<Value>(what: string, work: Promise<Value>, { stderr }: Output): Promise<Value> {
  if (stderr.isTTY !== true) return work
  const beginMs = performance.now()
  let step = 0
  const timer = setInterval(() => {
    const pastMs = performance.now() - beginMs
    if (pastMs < SILENT_MS) return
    step += 1
    stderr.write(`${CLEAR}${FRAMES[step % FRAMES.length]} ${what} … ${Math.floor(pastMs / 1000)} s`)
  }, STEP_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (step > 0) stderr.write(CLEAR)
  }
}

/** A bar for work whose length is known. Returns what is called with how much is done. */
export function bar(what: string, total: number, { stderr }: Output): (done: number) => void {
  if (stderr.isTTY !== true || total === 0) return () => {}
  let shown = -1
  return (done) => {
    const percent = Math.min(100, Math.floor((done / total) * 100))
    if (percent === shown) return
    shown = percent
    const full = Math.floor(percent / 4)
    const end = percent === 100 ? CLEAR : ''
    stderr.write(`${CLEAR}${what} [${'#'.repeat(full)}${' '.repeat(25 - full)}] ${percent} %${end}`)
  }
}
