/** Reads files of rows and writes files of vectors outside of the page. */
import { BatchLines, type Decision, type Measured, type MeasuredStep } from './corpus/batch-lines.ts'
import type { CorpusProfile } from './corpus/profile.ts'
import { readProfile } from './corpus/read-profile.ts'
import { convertResults } from './corpus/read-results.ts'
import type { CorpusTasks } from './corpus.ts'
import { serveTasks } from './serve-tasks.ts'

let profiling: AsyncGenerator<number, CorpusProfile> | undefined
let measuring: AsyncGenerator<MeasuredStep, Measured, readonly Decision[]> | undefined
let parts: AsyncGenerator<Uint8Array<ArrayBuffer>> | undefined
let converting: AsyncGenerator<number, Blob> | undefined

serveTasks<CorpusTasks>({
  profile: (file) => void (profiling = readProfile(file)),
  async read() {
    const { done, value } = await begun(profiling).next()
    return done === true ? { profile: value } : { readBytes: value }
  },
  lines(wanted) {
    const lines = new BatchLines(wanted)
    measuring = lines.measure()
    parts = lines.parts()
  },
  async measure(decisions) {
    const { done, value } = await begun(measuring).next(decisions)
    return done === true ? { measured: value } : value
  },
  async part() {
    const { done, value } = await begun(parts).next()
    return done === true ? {} : { bytes: value as Uint8Array<ArrayBuffer> }
  },
  vectors: (wanted) => void (converting = convertResults(wanted)),
  async convert() {
    const { done, value } = await begun(converting).next()
    return done === true ? { file: value } : { share: value }
  },
})

function begun<Work>(work: Work | undefined): Work {
  if (work === undefined) throw new Error('nothing was begun')
  return work
}
