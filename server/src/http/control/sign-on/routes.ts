import type { z } from 'zod'
import type { SignOnRecord } from '#ports/sign-on.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { callbackUrl } from '../session/oidc.ts'
import { testTicket } from '../session/trip.ts'
import { noContent } from '../wire/fields.ts'
import { conflict } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { signOn as signOnBody, signOnChange, signOnTest } from './schemas.ts'

export function registerSignOn(api: Api, people: PeopleDependencies): void {
  const { signOn, transports } = people

  api.get('/sign-on', {
    config: { permission: 'sign_on.read' },
    schema: {
      operationId: 'getSignOn',
      summary: 'The sign-on by an identity provider, without its secret',
      response: { 200: signOnBody, ...faultAnswers([401, 403, 503]) },
    },
    handler: async (request) => bodyOf(await signOn.read(), callbackUrl(request, people)),
  })

  api.put('/sign-on', {
    config: { permission: 'sign_on.write' },
    schema: {
      operationId: 'putSignOn',
      summary: 'Set up the sign-on. The secret is kept encrypted, and goes to the issuer alone',
      body: signOnChange,
      response: { 200: signOnBody, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { name, issuer, client_id: clientId, client_secret: clientSecret, rules } = request.body
      const given = rules.map((rule) => ({
        ...rule,
        projects: rule.role === 'developer' ? (rule.projects ?? []) : null,
      }))
      const change = { name: name ?? undefined, issuer, clientId, clientSecret, rules: given }
      return bodyOf(await signOn.put(change, actorIn(request)), callbackUrl(request, people))
    },
  })

  api.delete('/sign-on', {
    config: { permission: 'sign_on.write' },
    schema: {
      operationId: 'dropSignOn',
      summary: 'Turn the sign-on off and forget its secret. Sessions go on',
      response: { 204: noContent, ...faultAnswers([401, 403, 503]) },
    },
    handler: async (request, reply) => {
      await signOn.drop(actorIn(request))
      return reply.code(204).send()
    },
  })

  api.post('/sign-on/test', {
    config: { permission: 'sign_on.write' },
    schema: {
      operationId: 'testSignOn',
      summary: 'An address that walks through the sign-on and shows the claims, without signing anybody in',
      response: { 200: signOnTest, ...faultAnswers([401, 403, 409, 503]) },
    },
    handler: async (request) => {
      if ((await signOn.read()) === undefined) throw conflict('There is no sign-on to test. Save it first.')
      const search = new URLSearchParams({ test: testTicket(people) })
      return { url: transports.link(request, `api/v1/session/oidc?${search.toString()}`) }
    },
  })
}

function bodyOf(record: SignOnRecord | undefined, redirectUrl: string): z.output<typeof signOnBody> {
  return {
    name: record?.name ?? null,
    issuer: record?.issuer ?? '',
    client_id: record?.clientId ?? '',
    has_secret: record?.hasSecret ?? false,
    redirect_url: redirectUrl,
    rules: (record?.rules ?? []).map((rule) => ({
      ...rule,
      projects: rule.projects ? [...rule.projects] : null,
    })),
  }
}
