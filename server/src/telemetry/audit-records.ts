/** Entries of the audit as OTLP log records. */
import { sentEntryFields } from '#core/audit/entry-fields.ts'
import type { SentEntry } from '#ports/audit-receivers.ts'
import { OtlpWriter, writeAttributes, type Attributes } from './otlp-message.ts'

const EVENT_NAME = 'torana.audit.entry'
const SEVERITY_INFO = 9

/** The fields of `LogRecord`. */
const FIELD = { at: 1, severity: 2, severityText: 3, body: 5, attributes: 6, observedAt: 11, eventName: 12 }

/** Log records as the field `log_records` of `ScopeLogs`. */
export function encodeEntries(entries: readonly SentEntry[], nowMs: number): Buffer {
  const writer = new OtlpWriter()
  for (const entry of entries) writer.message(2, () => writeRecord(writer, entry, nowMs))
  return writer.written()
}

function writeRecord(writer: OtlpWriter, entry: SentEntry, nowMs: number): void {
  writer.nanoseconds(FIELD.at, entry.atMs)
  writer.whole(FIELD.severity, SEVERITY_INFO)
  writer.text(FIELD.severityText, 'INFO')
  const body = JSON.stringify(sentEntryFields(entry, new Date(entry.atMs).toISOString()))
  writer.message(FIELD.body, () => writer.text(1, body))
  writeAttributes(writer, FIELD.attributes, attributesOf(entry))
  writer.nanoseconds(FIELD.observedAt, nowMs)
  writer.text(FIELD.eventName, EVENT_NAME)
}

/** What a SIEM searches for and checks by. The whole entry is in the body. */
function attributesOf(entry: SentEntry): Attributes {
  return {
    'torana.audit.sequence': Number(entry.sequence),
    'torana.audit.hash': entry.hash,
    'torana.audit.previous_hash': entry.previousHash,
    'torana.audit.intact': entry.intact,
    'torana.audit.action': entry.action,
    'torana.audit.target': entry.target,
    'torana.audit.actor': entry.actor,
    'torana.audit.actor_kind': entry.actorKind,
    'client.address': entry.address,
  }
}
