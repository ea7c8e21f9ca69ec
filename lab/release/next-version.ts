const STEPS = ['major', 'minor', 'patch'] as const

/** `minor` raises the present version; a number such as 0.1.0 is taken as it is, because a first release raises nothing. */
export function nextVersion(present: string, wanted: string | undefined): string {
  if (wanted !== undefined && /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(wanted)) return wanted
  const step = STEPS.findIndex((name) => name === wanted)
  if (step === -1)
    throw new Error(`name the step or the version: major, minor, patch or 1.2.3, not ${wanted ?? 'nothing'}`)
  const numbers = present.split('-')[0]?.split('.').map(Number) ?? []
  return numbers.map((number, at) => (at < step ? number : at === step ? number + 1 : 0)).join('.')
}
