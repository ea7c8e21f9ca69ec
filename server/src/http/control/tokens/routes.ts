/** Tokens of programs: named, with a role, and with an end. */
import type { z } from 'zod'
import type { AdminTokenRecord } from '#ports/admin-tokens.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import { TOKEN_PREFIX } from '../access/callers.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { digestOf, newSecretText } from '../access/secret-text.ts'
import { noContent } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { newToken, type token, tokenList, tokenPath, tokenWithSecret } from './schemas.ts'

const DAY_MS = 24 * 3_600_000
/** Enough for a person to recognise it. */
const TAIL_CHARACTERS = 4

type TokenDependencies = Pick<PeopleDependencies, 'adminTokens' | 'callers' | 'nowMs'>

export function registerTokens(api: Api, { adminTokens, callers, nowMs }: TokenDependencies): void {
  api.get('/tokens', {
    config: { permission: 'tokens.read' },
    schema: {
      operationId: 'listTokens',
      summary: 'Tokens of programs at the control API, by name; never their secrets',
      response: { 200: tokenList, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => ({
      data: (await adminTokens.list()).map(tokenBody),
      has_more: false,
      next: null,
    }),
  })

  api.post('/tokens', {
    config: { permission: 'tokens.write' },
    schema: {
      operationId: 'createToken',
      summary: 'Make a token for a program',
      body: newToken,
      response: { 201: tokenWithSecret, ...faultAnswers([400, 401, 403, 409, 503]) },
    },
    handler: async (request, reply) => {
      const { name, role, projects, read_only: isReadOnly, expires_in_days: days } = request.body
      const secret = `${TOKEN_PREFIX}${newSecretText()}`
      const made = await adminTokens.create(
        {
          name,
          role,
          projects: role === 'developer' ? (projects ?? []) : null,
          isReadOnly,
          digest: digestOf(secret),
          tail: secret.slice(-TAIL_CHARACTERS),
          expiresAtMs: nowMs() + days * DAY_MS,
        },
        actorIn(request),
      )
      return reply.code(201).send({ ...tokenBody(made), secret })
    },
  })

  api.delete('/tokens/:name', {
    config: { permission: 'tokens.write' },
    schema: {
      operationId: 'revokeToken',
      summary: 'Revoke a token, on every node within two seconds',
      params: tokenPath,
      response: { 204: noContent, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request, reply) => {
      await adminTokens.revoke(request.params.name, actorIn(request))
      callers.forget()
      return reply.code(204).send()
    },
  })
}

function tokenBody(record: AdminTokenRecord): z.output<typeof token> {
  const { name, role, projects, isReadOnly, tail, createdBy } = record
  return {
    name,
    role,
    projects: projects ? [...projects] : null,
    read_only: isReadOnly,
    tail,
    created_by: createdBy,
    created_at: isoOf(record.createdAtMs),
    expires_at: isoOf(record.expiresAtMs),
    last_used_at: timeOf(record.lastUsedAtMs),
  }
}
