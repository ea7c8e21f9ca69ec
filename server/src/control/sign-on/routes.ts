/** Settings of the sign-on by an identity provider. */
import { z } from 'zod'
import { actorIn } from '../shared/caller.ts'
import { conflict } from '../shared/faults.ts'
import { noContent, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { projects, projectsByRole, projectsFor, role } from '../shared/people-fields.ts'
import { route, type Api } from '../shared/route.ts'
import { readSignOn, type KeptSignOn } from '../shared/sign-on-queries.ts'
import { callbackUrl, testTicket } from '../shared/trip.ts'
import { dropSignOn, putSignOn } from './queries.ts'

/** Rules of one sign-on: more than an organisation has groups that matter here. */
const MAX_RULES = 100

const rule = projectsByRole(
  z.strictObject({
    claim: storable(200).min(1).describe('The name of a claim, or a path such as `realm_access.roles`.'),
    value: storable(500).min(1).describe('One value of the claim. `*`: any.'),
    role,
    projects: projects.default(null),
  }),
).meta({ id: 'SignOnRule' })

const signOn = z
  .object({
    name: z.string().nullable().describe('On the button of the sign-in page. null: the host of the issuer.'),
    issuer: z.string().describe('Empty: single sign-on is off.'),
    client_id: z.string(),
    has_secret: z.boolean().describe('The secret itself is never shown.'),
    redirect_url: z.string().describe('What the identity provider must allow.'),
    rules: z.array(rule),
  })
  .meta({ id: 'SignOn' })

/** Nothing between here and the issuer may change its tokens and keys, so it needs TLS unless it is on this machine. */
const issuer = z.url().max(500).refine(isPrivate, 'expected an https address; http only on this machine')

const signOnChange = z
  .strictObject({
    name: storable(60).trim().min(1).nullable().default(null),
    issuer,
    client_id: storable(500).min(1),
    client_secret: storable(2000)
      .min(1)
      .optional()
      .describe('Left out: as before, unless the issuer is another one.'),
    rules: z.array(rule).max(MAX_RULES),
  })
  .meta({
    id: 'SignOnChange',
    examples: [
      {
        name: 'Okta',
        issuer: 'https://acme.okta.com',
        client_id: '0oa1b2c3',
        client_secret: 'a secret',
        rules: [{ claim: 'groups', value: 'search-team', role: 'developer', projects: ['search'] }],
      },
    ],
  })

const signOnTest = z
  .object({ url: z.string().describe('Open it in a new window: it shows the claims.') })
  .meta({ id: 'SignOnTest' })

export function registerSignOn(
  api: Api,
  node: Pick<ControlNode, 'reports' | 'transports' | 'sealingKeys' | 'seal' | 'clock'>,
): void {
  const { reports, transports } = node

  route(api, 'GET /sign-on', {
    permission: 'sign_on.read',
    id: 'getSignOn',
    summary: 'The sign-on by an identity provider, without its secret',
    answer: signOn,
    handler: async (request) => bodyOf(await readSignOn(reports), callbackUrl(request, node)),
  })

  route(api, 'PUT /sign-on', {
    permission: 'sign_on.write',
    id: 'putSignOn',
    summary: 'Set up the sign-on. The secret is kept encrypted, and goes to the issuer alone',
    body: signOnChange,
    answer: signOn,
    handler: async (request) => {
      const rules = request.body.rules.map((one) => ({ ...one, projects: projectsFor(one) }))
      const by = { keys: node.sealingKeys, actor: actorIn(request) }
      const kept = await putSignOn(reports, { ...request.body, rules }, by)
      return bodyOf(kept, callbackUrl(request, node))
    },
  })

  route(api, 'DELETE /sign-on', {
    permission: 'sign_on.write',
    id: 'dropSignOn',
    summary: 'Turn the sign-on off and forget its secret. Sessions go on',
    answers: { 204: noContent },
    handler: async (request, reply) => {
      await dropSignOn(reports, actorIn(request))
      return reply.code(204).send()
    },
  })

  route(api, 'POST /sign-on/test', {
    permission: 'sign_on.write',
    id: 'testSignOn',
    summary: 'An address that walks through the sign-on and shows the claims, without signing in',
    answer: signOnTest,
    faults: [409],
    handler: async (request) => {
      if ((await readSignOn(reports)) === undefined)
        throw conflict('Single sign-on is not set up. Save it before you test it.')
      const search = new URLSearchParams({ test: testTicket(node) })
      return { url: transports.link(request, `api/v1/session/oidc?${search.toString()}`) }
    },
  })
}

function bodyOf(kept: KeptSignOn | undefined, redirectUrl: string): z.output<typeof signOn> {
  return {
    name: kept?.name ?? null,
    issuer: kept?.issuer ?? '',
    client_id: kept?.client_id ?? '',
    has_secret: (kept?.sealed_secret ?? null) !== null,
    redirect_url: redirectUrl,
    rules: (kept?.rules ?? []).map((one) => ({ ...one, projects: one.projects && [...one.projects] })),
  }
}

function isPrivate(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') return false
  const isHere = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}
