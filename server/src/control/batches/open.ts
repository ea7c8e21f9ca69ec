/** The batch that a route is about, if the caller may see it. */
import { z } from 'zod'
import type { Batch } from '#ports/batches.ts'
import { checkSeen, type Caller } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import { storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { findBatch } from './queries.ts'

export const batchPath = z.object({ id: storable(80) })

export async function seenBatch(
  id: string,
  caller: Caller,
  { reports }: Pick<ControlNode, 'reports'>,
): Promise<Batch> {
  const found = await findBatch(reports, id)
  if (found === undefined) throw notFound(`There is no batch ${id}.`)
  checkSeen(caller, found.project, `batch ${id}`)
  return found
}
