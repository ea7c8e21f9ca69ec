/** The record of an attempt to run lines of a batch: the one place where it is made, for texts and images. */
import { idOf, type Catalog } from '#core/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { Tags } from '#core/labels.ts'
import type { RequestTrace } from '#core/request-trace.ts'
import type { Batch } from '#ports/batches.ts'
import { recordOf, type OpenRecord } from '../request-record.ts'

export interface AttemptedLines {
  readonly requestId: string
  readonly route: string
  readonly trace: RequestTrace
  readonly fault: Fault | undefined
  /** As the lines name it. */
  readonly model: string
  readonly inputs: number
  /** Undefined: none, or the lines have different ones. */
  readonly user: string | undefined
  readonly tags: Tags | undefined
}

/** The batch stands for the caller's own id, so that the requests of a batch are found by it. */
export function batchRecord(batch: Batch, attempted: AttemptedLines, catalog: Catalog): OpenRecord {
  const { requestId, route, trace, fault, model, inputs, user, tags } = attempted
  const { id: clientRequestId, project, keyId } = batch
  const key = { id: keyId, name: keyId.slice(project.length + 1), project }
  trace.askedModel = model
  return {
    ...recordOf({ requestId, route, clientRequestId, trace, status: 200, fault, key }),
    model: idOf(catalog, model),
    inputs,
    user,
    tags,
  }
}
