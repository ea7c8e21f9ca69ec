/** The record of one attempt to run lines of a batch, for texts and images. */
import { idOf, type Catalog } from '#core/catalog/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { Tags } from '#core/money/labels.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import type { Batch } from '#ports/batches.ts'
import { recordOf, type OpenRecord } from '../request-record.ts'

export interface AttemptedLines {
  readonly requestId: string
  readonly route: string
  readonly trace: RequestTrace
  readonly fault: Fault | undefined
  /** The model id as the lines write it. */
  readonly model: string
  readonly inputs: number
  /** Undefined when no line names a user, or the lines name different ones. */
  readonly user: string | undefined
  readonly tags: Tags | undefined
}

/** The batch id takes the place of the caller's own id, so that a search for it finds the batch's requests. */
export function batchRecord(batch: Batch, attempted: AttemptedLines, catalog: Catalog): OpenRecord {
  const { requestId, route, trace, fault, model, inputs, user, tags } = attempted
  const { id: clientRequestId, project, keyId } = batch
  const key = { id: keyId, name: keyId.slice(project.length + 1), project }
  trace.askedModel = model
  return {
    ...recordOf({ requestId, route, clientRequestId, trace, fault, key }),
    model: idOf(catalog, model),
    inputs,
    user,
    tags,
  }
}
