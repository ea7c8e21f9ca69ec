/** What a sign-in by the identity provider takes from its claims, and how a test of it is shown. */
import { standingOf, type Claims, type SignOnRule, type Standing } from '#core/access/sign-on-rules.ts'
import type { Identity } from './sign-on-queries.ts'

/** Undefined: the claims name no mail address. */
export function identityOf(
  claims: Claims,
  { issuer, rules }: { readonly issuer: string; readonly rules: readonly SignOnRule[] },
): Identity | undefined {
  const { sub, email, name, preferred_username: username } = claims
  if (typeof sub !== 'string' || typeof email !== 'string' || !email.includes('@')) return undefined
  const given = [name, username].find(isWritten) ?? email
  return {
    issuer,
    subject: sub,
    email: email.toLowerCase().slice(0, 254),
    name: given.trim().replaceAll('\0', '').slice(0, 100),
    emailVerified: claims['email_verified'] === true,
    standing: standingOf(claims, rules),
  }
}

function isWritten(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== ''
}

/** Only a page of the console itself: a page of another site must not get a person who has just signed in. */
export function ownPath(asked: string | undefined): string {
  const here = 'http://console.invalid'
  const url = asked?.startsWith('/') === true ? URL.parse(asked, here) : null
  return url?.origin === here ? `${url.pathname}${url.search}` : '/'
}

/** On the button of the sign-in page. */
export function buttonName({
  name,
  issuer,
}: {
  readonly name: string | null
  readonly issuer: string
}): string {
  return name ?? URL.parse(issuer)?.host ?? issuer
}

/** The result of a test, as the Markdown of a page. */
export function claimsPage(
  found: { readonly problem: string } | { readonly claims: Claims; readonly standing: Standing | undefined },
): string {
  const lines = 'problem' in found ? failedTest(found.problem) : passedTest(found.claims, found.standing)
  return ['# Test of the sign-on', '', ...lines, ''].join('\n')
}

function failedTest(problem: string): readonly string[] {
  return [
    'The test failed. You were not signed in.',
    '',
    `- ${code(problem)}`,
    '',
    'Check the issuer, the client ID, the secret, and that the identity provider allows the redirect URL.',
  ]
}

function passedTest(claims: Claims, standing: Standing | undefined): readonly string[] {
  const role =
    standing === undefined
      ? '**No rule matches, so this user could not sign in.** Add a rule for one of the claims below.'
      : standing.projects === null
        ? `This user would sign in as **${standing.role}**.`
        : `This user would sign in as **${standing.role}** in ${standing.projects.map(code).join(', ') || 'no project'}.`
  return [
    'Single sign-on works. You were not signed in.',
    '',
    role,
    '',
    '## Claims from the identity provider',
    '',
    ...Object.entries(claims)
      .toSorted(([one], [two]) => (one < two ? -1 : 1))
      .map(([name, value]) => `- ${code(name)}: ${code(JSON.stringify(value))}`),
    '',
    'Close this window.',
  ]
}

/** Nothing inside of it is read as Markdown, and pages escape what they show. */
function code(text: string): string {
  return `\`${text.replaceAll(/[`\n\r]/g, ' ')}\``
}
