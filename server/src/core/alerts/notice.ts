/** What a notice says. It never holds a key or a text of a caller. */
import type { AlertKind, AlertSeverity } from './kind.ts'

/** `worse`: a further mark was reached. `past`: it started and ended while notices were held. */
export const NOTICE_PHASES = ['start', 'worse', 'end', 'past'] as const
export type NoticePhase = (typeof NOTICE_PHASES)[number]

export interface Notice {
  /** The same in every try, so that a receiver recognises a duplicate. */
  readonly id: string
  /** The id of the incident; a test has one of its own. */
  readonly incident: string
  readonly phase: NoticePhase
  readonly kind: AlertKind
  readonly severity: AlertSeverity
  readonly title: string
  /** Sentences, without line breaks. */
  readonly lines: readonly string[]
  /** Undefined: the installation. */
  readonly project: string | undefined
  readonly grouped: number
  /** ISO 8601. */
  readonly startedAt: string
  readonly endedAt: string | undefined
  /** The name of the installation. */
  readonly installation: string
  /** The page of the console that shows more. Undefined: no address of the console is known. */
  readonly link: string | undefined
  readonly isTest: boolean
}
