/** A backup of everything that the store keeps, as a file. */
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import { actorIn } from '../shared/caller.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { StreamSlots } from '../shared/stream-slots.ts'
import { makeBackup } from './open.ts'

/** Backups at once: each reads the whole store and fills the disk. */
const MAX_BACKUPS = 1
const RETRY_AFTER_MS = 30_000

const backupInput = z
  .strictObject({ pictures: z.boolean().default(false).describe('With the images of `ASSETS_URL`.') })
  .meta({ id: 'BackupInput', examples: [{ pictures: true }] })

export function registerBackup(api: Api, node: ControlNode): void {
  const backups = new StreamSlots({
    slots: MAX_BACKUPS,
    headroom: Infinity,
    full: () =>
      new Fault('too_many_exports', 'A backup runs on this node already. Retry.', {
        retryAfterMs: RETRY_AFTER_MS,
      }),
  })
  route(api, 'POST /backup', {
    permission: 'backup.make',
    id: 'makeBackup',
    summary:
      'All that the store keeps, as one gzip file for `torana restore`. It holds digests of keys, never keys',
    body: backupInput,
    answer: z.string().describe('The file, streamed.'),
    handler: async (request, reply) =>
      backups.answer(request, reply, {
        headers: {
          'content-type': 'application/gzip',
          'content-disposition': 'attachment; filename="torana-backup.gz"',
        },
        open: () => makeBackup(node, { pictures: request.body.pictures, actor: actorIn(request) }),
      }),
  })
}
