/** Compares the rules of alerts with what one node sees for all, and records incidents as they start, change and end. */
import type { Attention } from '#core/alerts/attention.ts'
import type { AlertFacts, LastingAttention } from '#core/alerts/facts.ts'
import { findingsOf } from '#core/alerts/findings.ts'
import { keyOf, stepsOf, type IncidentStep } from '#core/alerts/incident.ts'
import { valueOf } from '#core/alerts/kind.ts'
import type { AlertRule, DeclaredAlerts } from '#core/alerts/rule.ts'
import type { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import type { PostgresAlertRules } from '#stores/postgres/alerts/rules.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { PostgresTrafficHistory } from '#stores/postgres/traffic-history.ts'

export interface AlertWatchParts {
  readonly store: Pick<PostgresAlertRules, 'read'>
  readonly outbox: Pick<PostgresAlertOutbox, 'openIncidents' | 'record'>
  readonly declared: () => DeclaredAlerts
  /** Whether this node does what one node does for all. */
  readonly isLeader: () => Promise<boolean>
  /** The same list as on the overview. */
  readonly attention: () => Promise<readonly Attention[]>
  readonly budgets: () => Promise<AlertFacts['budgets']>
  readonly certificates: () => Promise<AlertFacts['certificates']>
  readonly history: Pick<PostgresTrafficHistory, 'projectTraffic'>
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly installation: string
  readonly consoleUrl: string | undefined
  readonly events: AlertWatchEvents
  /** `CLEAR_MS` unless given. */
  readonly clearMs?: number | undefined
}

interface AlertWatchEvents {
  recorded(step: IncidentStep): void
  /** There are more open incidents than Torana keeps. */
  leftOut(findings: number): void
}

/** Time for which the cause must be gone before an incident ends: longer than the pause between two probes of a deployment. */
const CLEAR_MS = 60_000
/** Time for which an item may be missing from the list and still count as lasting: a few checks. */
const GAP_MS = 20_000
const MINUTE_MS = 60_000

export class AlertWatch {
  readonly #parts: AlertWatchParts
  #goneSinceMs: ReadonlyMap<string, number> = new Map()
  readonly #seen = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>()

  constructor(parts: AlertWatchParts) {
    this.#parts = parts
  }

  /** Rejects when the store is unreachable: then nothing starts and nothing ends. */
  async check(): Promise<void> {
    const { store, outbox, declared, isLeader, clock, identifiers, events } = this.#parts
    if (!(await isLeader())) return
    const stored = await store.read()
    const { rules: declaredRules, channels: declaredChannels } = declared()
    const rules = [...declaredRules, ...stored.rules]
    const on = rules.filter(({ isOn }) => isOn)
    const open = await outbox.openIncidents()
    if (on.length === 0 && open.length === 0) return
    const keys = new Set(open.map(keyOf))
    const facts = await this.#facts(on, (key) => keys.has(key))
    const { steps, goneSinceMs, leftOut } = stepsOf({
      open,
      found: on.flatMap((rule) => findingsOf(rule, facts).map((finding) => ({ rule, finding }))),
      rules,
      channels: [...declaredChannels, ...stored.channels],
      goneSinceMs: this.#goneSinceMs,
      clearMs: this.#parts.clearMs ?? CLEAR_MS,
      nowMs: clock.nowMs(),
      newId: () => identifiers.next(),
      installation: this.#parts.installation,
      consoleUrl: this.#parts.consoleUrl,
      isoOf: (unixMs) => new Date(unixMs).toISOString(),
    })
    this.#goneSinceMs = goneSinceMs
    for (const step of await outbox.record(steps)) events.recorded(step)
    if (leftOut > 0) events.leftOut(leftOut)
  }

  async #facts(rules: readonly AlertRule[], isOpen: AlertFacts['isOpen']): Promise<AlertFacts> {
    const { attention, budgets, certificates, history, clock } = this.#parts
    const has = (kind: AlertRule['kind']): boolean => rules.some((rule) => rule.kind === kind)
    const nowMs = clock.nowMs()
    const traffic = new Map<number, Awaited<ReturnType<typeof history.projectTraffic>>>()
    for (const { kind, condition } of rules) {
      if (kind !== 'error_rate' && kind !== 'latency') continue
      const minutes = valueOf(condition, 'minutes')
      const fromMs = Math.floor(nowMs / MINUTE_MS - minutes) * MINUTE_MS
      if (!traffic.has(minutes))
        traffic.set(minutes, await history.projectTraffic({ fromMs, toMs: nowMs + 1 }))
    }
    return {
      nowMs,
      attention: this.#lasting(await attention(), nowMs),
      budgets: has('budget') ? await budgets() : [],
      certificates: has('certificate') ? await certificates() : [],
      traffic,
      isOpen,
    }
  }

  /** A deployment that is probed leaves the list for a moment; the failure goes on. */
  #lasting(items: readonly Attention[], nowMs: number): readonly LastingAttention[] {
    for (const [id, { lastMs }] of this.#seen) if (nowMs - lastMs > GAP_MS) this.#seen.delete(id)
    return items.map((item) => {
      const id = `${item.subject.type}:${item.subject.id}`
      const sinceMs = Math.min(this.#seen.get(id)?.sinceMs ?? nowMs, Date.parse(item.since))
      this.#seen.set(id, { sinceMs, lastMs: nowMs })
      return { ...item, sinceMs }
    })
  }
}
