/** What a test of the sign-on found, as a page of a window of its own. */
import type { Claims, Standing } from '#core/sign-on-rules.ts'

type Found =
  | { readonly problem: string }
  | { readonly claims: Claims; readonly standing: Standing | undefined }

export function claimsPage(found: Found): string {
  const lines = 'problem' in found ? failed(found.problem) : told(found.claims, found.standing)
  return ['# Test of the sign-on', '', ...lines, ''].join('\n')
}

function failed(problem: string): readonly string[] {
  return [
    'It did not work. Nobody was signed in.',
    '',
    `- ${code(problem)}`,
    '',
    'Check the issuer, the client id, the secret, and that the identity provider knows the redirect URL.',
  ]
}

function told(claims: Claims, standing: Standing | undefined): readonly string[] {
  const role =
    standing === undefined
      ? '**No rule fits, so this person could not sign in.** Add a rule for one of the claims below.'
      : standing.projects === null
        ? `This person would sign in as **${standing.role}**.`
        : `This person would sign in as **${standing.role}** of ${standing.projects.map(code).join(', ') || 'no project'}.`
  return [
    'It works. Nobody was signed in by it.',
    '',
    role,
    '',
    '## What the identity provider told',
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
