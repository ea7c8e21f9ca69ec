/** Loaded into a node before its own code: its wall clock is ahead by the milliseconds in a file, read again and again. Timers keep the real time. */
import { readFileSync } from 'node:fs'

const file = process.env['LAB_CLOCK_FILE'] ?? ''
const READ_EVERY_MS = 100

const SystemDate = Date
let aheadMs = Number(readFileSync(file, 'utf8'))
setInterval(() => {
  const text = readFileSync(file, 'utf8')
  // A file that is being written is empty for a moment.
  if (text !== '') aheadMs = Number(text)
}, READ_EVERY_MS).unref()

globalThis.Date = class extends SystemDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(SystemDate.now() + aheadMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return SystemDate.now() + aheadMs
  }
} as DateConstructor
