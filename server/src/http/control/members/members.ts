import type { z } from 'zod'
import type { MemberRecord } from '#ports/members.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { cursorPage } from '../wire/page.ts'
import { noContent } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { member, memberChange, memberList, memberPage, memberPath } from './schemas.ts'

type MemberDependencies = Pick<PeopleDependencies, 'members' | 'sessions' | 'callers'>

export function registerMembers(api: Api, { members, sessions, callers }: MemberDependencies): void {
  api.get('/members', {
    config: { permission: 'members.read' },
    schema: {
      operationId: 'listMembers',
      summary: 'People who sign in to the console, by mail address',
      querystring: memberPage,
      response: { 200: memberList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async ({ query: { limit, after } }) => {
      const rows = await members.list({ limit: limit + 1, after })
      return cursorPage(rows, limit, { bodyOf: memberBody, cursorOf: ({ email }) => email })
    },
  })

  api.patch('/members/:id', {
    config: { permission: 'members.write' },
    schema: {
      operationId: 'setMember',
      summary: 'Change the role, the projects or the name of a member, or disable it',
      params: memberPath,
      body: memberChange,
      response: { 200: member, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const changed = await members.change(request.params.id, request.body, actorIn(request))
      callers.forget()
      return memberBody(changed)
    },
  })

  api.delete('/members/:id/sessions', {
    config: { permission: 'members.write' },
    schema: {
      operationId: 'endSessions',
      summary: 'End all sessions of a member, on every node within two seconds',
      params: memberPath,
      response: { 204: noContent, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request, reply) => {
      await sessions.endAllOf(request.params.id, actorIn(request))
      callers.forget()
      return reply.code(204).send()
    },
  })
}

function memberBody(record: MemberRecord): z.output<typeof member> {
  const { id, name, email, role, projects, source } = record
  return {
    id,
    name,
    email,
    role,
    projects: projects ? [...projects] : null,
    source,
    last_seen_at: timeOf(record.lastSeenAtMs),
    created_at: isoOf(record.createdAtMs),
    disabled_at: timeOf(record.disabledAtMs),
  }
}
