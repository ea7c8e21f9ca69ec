/** Longest text that the demo model reads: its memory and time grow with the square of its tokens. */
export const DEMO_MAX_TOKENS = 2048
