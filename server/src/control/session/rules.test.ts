import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Claims, SignOnRule } from '#core/access/sign-on-rules.ts'
import { buttonName, claimsPage, identityOf, ownPath } from './rules.ts'

const ISSUER = 'https://login.example.com/realm'
const rules: readonly SignOnRule[] = [{ claim: 'groups', value: 'ops', role: 'admin', projects: null }]
const CLAIMS: Claims = { sub: 's1', email: 'Ann@Example.com', name: ' Ann ', preferred_username: 'ann' }

test('a person is known by subject and mail address, in small letters, and never by one of them alone', () => {
  for (const missing of [
    { sub: undefined },
    { sub: 7 },
    { email: undefined },
    { email: ['a@b'] },
    { email: 'no address' },
  ])
    assert.equal(identityOf({ ...CLAIMS, ...missing }, { issuer: ISSUER, rules }), undefined)
  assert.deepEqual(identityOf(CLAIMS, { issuer: ISSUER, rules }), {
    issuer: ISSUER,
    subject: 's1',
    email: 'ann@example.com',
    name: 'Ann',
    emailVerified: false,
    standing: undefined,
  })
})

test('a mail address is verified only where the provider says exactly that, and rules give the role', () => {
  for (const [claimed, isVerified] of [
    [true, true],
    ['true', false],
    [1, false],
    [false, false],
  ] as const) {
    const claims = { ...CLAIMS, email_verified: claimed, groups: ['ops'] }
    const identity = identityOf(claims, { issuer: ISSUER, rules })
    assert.equal(identity?.emailVerified, isVerified)
    assert.deepEqual(identity?.standing, { role: 'admin', projects: null })
  }
})

test('a name is the first that is written, without zero bytes, and bounded like the address', () => {
  for (const [claims, name] of [
    [{}, 'Ann'],
    [{ name: ' ' }, 'ann'],
    [{ name: 7 }, 'ann'],
    [{ name: undefined, preferred_username: '' }, 'Ann@Example.com'],
    [{ name: 'A\0n\0n' }, 'Ann'],
    [{ name: 'n'.repeat(101) }, 'n'.repeat(100)],
  ] as const)
    assert.equal(identityOf({ ...CLAIMS, ...claims }, { issuer: ISSUER, rules })?.name, name)
  const long = `${'a'.repeat(250)}@example.com`
  const email = identityOf({ ...CLAIMS, email: long }, { issuer: ISSUER, rules })?.email
  assert.equal(email, long.slice(0, 254))
})

test('a sign-in returns to a page of the console, and to no other site', () => {
  for (const [asked, path] of [
    [undefined, '/'],
    ['', '/'],
    ['/keys?q=a#part', '/keys?q=a'],
    ['keys', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['https://evil.example/', '/'],
    ['http://console.invalid/keys', '/'],
    ['javascript:alert(1)', '/'],
  ] as const)
    assert.equal(ownPath(asked), path, asked ?? 'nothing asked')
})

test('the button names the provider: as configured, or by its host', () => {
  assert.equal(buttonName({ name: 'Example', issuer: ISSUER }), 'Example')
  assert.equal(buttonName({ name: null, issuer: ISSUER }), 'login.example.com')
  assert.equal(buttonName({ name: null, issuer: 'not an address' }), 'not an address')
})

test('a test of the sign-on shows the role and the claims in order, and nothing in them is Markdown', () => {
  const claims = { sub: 's`1\n# title', email: 'a@b' }
  const page = (standing: Parameters<typeof claimsPage>[0] & { claims: Claims }): string[] =>
    claimsPage(standing).split('\n')
  assert.deepEqual(page({ claims, standing: undefined }), [
    '# Test of the sign-on',
    '',
    'Single sign-on works. You were not signed in.',
    '',
    '**No rule matches, so this user could not sign in.** Add a rule for one of the claims below.',
    '',
    '## Claims from the identity provider',
    '',
    '- `email`: `"a@b"`',
    '- `sub`: `"s 1\\n# title"`',
    '',
    'Close this window.',
    '',
  ])
  for (const [projects, words] of [
    [null, 'This user would sign in as **developer**.'],
    [['ads', 'se`arch'], 'This user would sign in as **developer** in `ads`, `se arch`.'],
    [[], 'This user would sign in as **developer** in no project.'],
  ] as const)
    assert.equal(page({ claims, standing: { role: 'developer', projects } })[4], words)
})

test('a test of the sign-on that failed says why and what to check', () => {
  assert.equal(
    claimsPage({ problem: 'no `issuer`\r\nanswers' }),
    [
      '# Test of the sign-on',
      '',
      'The test failed. You were not signed in.',
      '',
      '- `no  issuer   answers`',
      '',
      'Check the issuer, the client ID, the secret, and that the identity provider allows the redirect URL.',
      '',
    ].join('\n'),
  )
})
