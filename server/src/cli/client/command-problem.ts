/** The problems of `torana-bulk` and those of the CLI are one class: both are printed without a stack. */
export { CommandProblem } from 'torana-bulk/problem'
