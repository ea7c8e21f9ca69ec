/** Keys as they are listed: those of the store and of the configuration together. */
import { z } from 'zod'
import { KEY_STATES, type KeyState } from '#core/keys/key-hygiene.ts'
import { cursorOf, KEY_ORDERS, placeOf, rankIn, type KeyOrder, type KeyPlace } from '#core/keys/key-order.ts'
import { callerIn, checkSeen, visibleProjects } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import { cursor, listOf, name, pageLimit as limit, storable } from '../shared/fields.ts'
import { mergedPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { registerKeyChanges, type ChangesNode } from './change-routes.ts'
import { findKey, key, keyBodies, listDeclaredKeys, statesOfKey, storedKey } from './queries.ts'

const keyPage = z.object({
  after: storable(500).optional(),
  limit,
  project: name.optional(),
  q: storable(100).optional().describe('A part of the id, or the last characters of a secret.'),
  state: z
    .enum(KEY_STATES)
    .optional()
    .describe('`tidy`: it needs cleanup. `revoked`: revoked, or past its end.'),
  sort: z
    .enum(KEY_ORDERS)
    .default('id')
    .describe(
      '`-used`: the last used first. `ends`: the next to end first. Keys of which there is nothing to tell come last.',
    ),
})

const keyList = listOf(key)
  .extend({
    next: cursor,
    counts: z
      .object({ active: z.int(), ending: z.int(), tidy: z.int(), revoked: z.int() })
      .describe('How many keys each state has, of those that `project` and `q` let through.'),
  })
  .meta({ id: 'KeyList' })

export function registerKeys(api: Api, node: ChangesNode): void {
  const { keyStore, peppers, clock } = node

  route(api, 'GET /keys', {
    permission: 'keys.read',
    id: 'listKeys',
    summary: 'Keys, in one of three orders',
    query: keyPage,
    answer: keyList,
    handler: async (request) => {
      const { project, q = '', state: is, sort: order, limit: shown } = request.query
      const after = placeIn(order, request.query.after)
      const moment = { nowMs: clock.nowMs(), pepper: peppers.current.id }
      const filter = { projects: visibleProjects(callerIn(request), project), text: q.replace(/^…/, '') }
      const state = is && { is, ...moment }
      const stored = await keyStore.listKeys({ ...filter, state, order, after, limit: shown + 1 })
      const counts = await keyStore.countKeys({ ...filter, ...moment })
      const declared = (await listDeclaredKeys(filter, node)).map((one) => ({
        key: one,
        states: statesOfKey(one, moment.nowMs, moment.pepper),
      }))
      const page = mergedPage({
        stored: stored.map(storedKey),
        declared: declared.filter(({ states }) => !is || states.includes(is)).map((one) => one.key),
        nameOf: ({ id }) => id,
        rankOf: (one) => rankIn(order, one),
        after,
        limit: shown,
      })
      const last = page.data.at(-1)
      const count = (one: KeyState): number =>
        counts[one] + declared.filter(({ states }) => states.includes(one)).length
      return {
        data: await keyBodies(page.data, node),
        has_more: page.has_more,
        next: page.has_more && last ? cursorOf(order, { rank: rankIn(order, last), id: last.id }) : null,
        counts: {
          active: count('active'),
          ending: count('ending'),
          tidy: count('tidy'),
          revoked: count('revoked'),
        },
      }
    },
  })

  route(api, 'GET /keys/:project/:name', {
    permission: 'keys.read',
    id: 'getKey',
    summary: 'One key',
    // Keys of torana.yaml may have other names than those that the API accepts.
    params: z.object({ project: storable(200), name: storable(200) }),
    answer: key,
    handler: async (request) => {
      const { project, name: keyName } = request.params
      checkSeen(callerIn(request), project, `key ${project}/${keyName}`)
      const shown = await findKey(request.params, node)
      const [body] = await keyBodies(shown ? [shown] : [], node)
      if (body === undefined) throw notFound(`There is no key ${project}/${keyName}.`)
      return body
    },
  })

  registerKeyChanges(api, node)
}

function placeIn(order: KeyOrder, after: string | undefined): KeyPlace | undefined {
  if (after === undefined) return undefined
  const place = placeOf(order, after)
  if (place === undefined) throw invalidField('`after` is not the `next` of a page in this order.', 'after')
  return place
}
