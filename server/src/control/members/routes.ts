/** People who sign in to the console. */
import { z } from 'zod'
import { actorIn } from '../shared/caller.ts'
import { noContent, pageLimit, pageOf } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { endSessionsOf } from '../shared/session-queries.ts'
import { changeMember, listMembers, member, memberChange } from './queries.ts'

const memberPage = z.object({ limit: pageLimit, after: z.string().max(254).optional() })
const memberPath = z.object({ id: z.uuid() })

const memberList = pageOf(member).meta({ id: 'MemberList' })

export function registerMembers(
  api: Api,
  { reports, callers }: Pick<ControlNode, 'reports' | 'callers'>,
): void {
  route(api, 'GET /members', {
    permission: 'members.read',
    id: 'listMembers',
    summary: 'People who sign in to the console, by mail address',
    query: memberPage,
    answer: memberList,
    handler: async ({ query: { limit, after } }) => {
      const found = await listMembers(reports, { limit: limit + 1, after })
      return cursorPage(found, limit, { bodyOf: (one) => one, cursorOf: ({ email }) => email })
    },
  })

  route(api, 'PATCH /members/:id', {
    permission: 'members.write',
    id: 'setMember',
    summary: 'Change the role, the projects or the name of a member, or disable it',
    params: memberPath,
    body: memberChange,
    answer: member,
    faults: [409],
    handler: async (request) => {
      const changed = await changeMember(reports, request.params.id, request.body, actorIn(request))
      callers.forget()
      return changed
    },
  })

  route(api, 'DELETE /members/:id/sessions', {
    permission: 'members.write',
    id: 'endSessions',
    summary: 'End all sessions of a member, on every node within two seconds',
    params: memberPath,
    answers: { 204: noContent },
    handler: async (request, reply) => {
      await endSessionsOf(reports, request.params.id, actorIn(request))
      callers.forget()
      return reply.code(204).send()
    },
  })
}
