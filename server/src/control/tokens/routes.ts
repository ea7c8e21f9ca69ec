/** Tokens of programs: named, with a role, and with an end. */
import { z } from 'zod'
import { actorIn } from '../shared/caller.ts'
import { TOKEN_PREFIX } from '../shared/callers.ts'
import { noContent, pageOf } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { projects, projectsByRole, projectsFor, role } from '../shared/people-fields.ts'
import { route, type Api } from '../shared/route.ts'
import { digestOf, newSecretText } from '../shared/secret-text.ts'
import { createToken, listTokens, revokeToken, token } from './queries.ts'

const DAY_MS = 24 * 3_600_000
/** The longest life of a token: a forgotten one ends by itself. */
const MAX_DAYS = 366
/** Characters of a secret that the list shows: enough for a person to recognise it. */
const TAIL_CHARACTERS = 4

const tokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'expected up to 63 of a-z, 0-9, ".", "_" and "-"')

const tokenPath = z.object({ name: tokenName })

const tokenList = pageOf(token).meta({ id: 'TokenList' })

const newToken = projectsByRole(
  z.strictObject({
    name: tokenName,
    role,
    projects: projects.default(null),
    read_only: z.boolean().default(false).describe('It may read, whatever its role.'),
    expires_in_days: z.int().min(1).max(MAX_DAYS),
  }),
).meta({ id: 'NewToken', examples: [{ name: 'terraform', role: 'operator', expires_in_days: 90 }] })

const tokenWithSecret = token
  .extend({ secret: z.string().describe('Shown once.') })
  .meta({ id: 'TokenWithSecret' })

export function registerTokens(
  api: Api,
  { reports, callers, clock }: Pick<ControlNode, 'reports' | 'callers' | 'clock'>,
): void {
  route(api, 'GET /tokens', {
    permission: 'tokens.read',
    id: 'listTokens',
    summary: 'Tokens of programs at the control API, by name; never their secrets',
    answer: tokenList,
    handler: async () => ({ data: await listTokens(reports), has_more: false, next: null }),
  })

  route(api, 'POST /tokens', {
    permission: 'tokens.write',
    id: 'createToken',
    summary: 'Make a token for a program',
    body: newToken,
    answers: { 201: tokenWithSecret },
    faults: [409],
    handler: async (request, reply) => {
      const { expires_in_days: days, ...given } = request.body
      const secret = `${TOKEN_PREFIX}${newSecretText()}`
      const made = await createToken(
        reports,
        {
          ...given,
          projects: projectsFor(given),
          digest: digestOf(secret),
          tail: secret.slice(-TAIL_CHARACTERS),
          expiresAt: new Date(clock.nowMs() + days * DAY_MS),
        },
        actorIn(request),
      )
      return reply.code(201).send({ ...made, secret })
    },
  })

  route(api, 'DELETE /tokens/:name', {
    permission: 'tokens.write',
    id: 'revokeToken',
    summary: 'Revoke a token, on every node within two seconds',
    params: tokenPath,
    answers: { 204: noContent },
    handler: async (request, reply) => {
      await revokeToken(reports, request.params.name, actorIn(request))
      callers.forget()
      return reply.code(204).send()
    },
  })
}
