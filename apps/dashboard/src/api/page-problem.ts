/** An error that the page found itself. The message also says what to do. */
export class PageProblem extends Error {}
