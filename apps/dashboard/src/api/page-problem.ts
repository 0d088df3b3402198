/** Something that the page found out by itself. The message says what to do as well. */
export class PageProblem extends Error {}
