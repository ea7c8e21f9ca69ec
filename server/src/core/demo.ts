/** The longest text that the demo model reads: it takes memory and time by the square of its tokens. */
export const DEMO_MAX_TOKENS = 2048
