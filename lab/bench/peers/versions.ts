/** The versions that are measured: the newest that can be had and that answer, looked up on 18 November 2026. */

/** PyPI's newest. */
export const LITELLM_VERSION = '1.109.1'
/** 1.15.2, npm's newest, changes headers that are immutable, and answers 500. */
export const PORTKEY_VERSION = '1.9.8'
/** The newest release with public source: Go's proxy has none of its modules, and its 2.x releases have no tag. */
export const BIFROST_VERSION = '1.6.11'
