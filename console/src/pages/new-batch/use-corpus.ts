/** The chosen file, read by a worker. One at a time: the next file takes the place of the one before, once it was read. */
import { useState } from 'react'
import { useAbort } from '../../ui/abort.ts'
import { withCorpusWorker } from '../../workers/corpus.ts'
import type { CorpusProfile } from '../../workers/corpus/profile.ts'

export interface Corpus {
  /** Distinguishes it from the files before it. */
  readonly number: number
  readonly file: File
  readonly profile: CorpusProfile
}

export interface Reading {
  readonly corpus: Corpus | undefined
  /** The file that is read at present, or that could not be read. */
  readonly file: File | undefined
  readonly readBytes: number
  readonly isReading: boolean
  /** Why the last file could not be read. */
  readonly error: unknown
  readonly start: (file: File) => void
  readonly stop: () => void
}

let lastNumber = 0

export function useCorpus(onRead: () => void): Reading {
  const abort = useAbort()
  const [corpus, setCorpus] = useState<Corpus>()
  const [file, setFile] = useState<File>()
  const [readBytes, setReadBytes] = useState(0)
  const [isReading, setReading] = useState(false)
  const [error, setError] = useState<unknown>()
  const read = async (next: File): Promise<void> => {
    const signal = abort.next()
    setFile(next)
    setReadBytes(0)
    setReading(true)
    setError(undefined)
    try {
      const profile = await readFile(next, setReadBytes, signal)
      lastNumber += 1
      setCorpus({ number: lastNumber, file: next, profile })
      onRead()
    } catch (problem) {
      if (!signal.aborted) setError(problem)
    } finally {
      // The file after it is still being read.
      if (!signal.aborted) setReading(false)
    }
  }
  return {
    corpus,
    file,
    readBytes,
    isReading,
    error,
    start: (next) => void read(next),
    stop: () => {
      abort.stop()
      setReading(false)
      setFile(undefined)
    },
  }
}

function readFile(file: File, onRead: (bytes: number) => void, signal: AbortSignal): Promise<CorpusProfile> {
  return withCorpusWorker(signal, async (worker) => {
    await worker.request('profile', file)
    for (;;) {
      const step = await worker.request('read', undefined)
      if ('profile' in step) return step.profile
      onRead(step.readBytes)
    }
  })
}
