/** `node weekly.ts <moment>`: fails unless the last green run of the weekly proofs, which ended at that moment, is recent. `''`: there was none. */

/** Age of the last green weekly run at a release: a week, and a day for a run that was started by hand after a red one. */
const MAX_AGE_DAYS = 8
const DAY_MS = 86_400_000

/** Undefined: a release may go on. */
export function findProblem(ended: string, nowMs: number): string | undefined {
  const next = 'Start the workflow `weekly` by hand, and run this job again when it is green.'
  if (ended === '') return `No run of the weekly proofs on main was green. ${next}`
  const ageDays = (nowMs - Date.parse(ended)) / DAY_MS
  if (Number.isNaN(ageDays)) return `${ended} is no moment. ${next}`
  return ageDays <= MAX_AGE_DAYS
    ? undefined
    : `The last green run of the weekly proofs ended at ${ended}, ${Math.floor(ageDays)} days ago; a release asks for one of the last ${MAX_AGE_DAYS}. ${next}`
}

if (import.meta.main) {
  const problem = findProblem(process.argv[2] ?? '', Date.now())
  if (problem !== undefined) {
    console.error(problem)
    process.exitCode = 1
  }
}
