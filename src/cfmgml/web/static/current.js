// The one question that the page is about. Whatever was asked before it is given up, and its answer ignored.

const SETTLE = 150; // milliseconds: of questions that follow each other more quickly only the last is asked
const PATIENCE = 60_000; // milliseconds that a busy server is asked again

export class Current {
  constructor(onBusy) {
    this.onBusy = onBusy; // called with true when work begins and with false when the last of it has ended
    this.mine = null;
    this.lastAsked = -SETTLE;
  }

  // What the work gives, or null where another question has taken its place; `work` is given a signal to stop at.
  async ask(work) {
    this.mine?.abort();
    const mine = (this.mine = new AbortController());
    const wait = performance.now() - this.lastAsked < SETTLE ? SETTLE : 0;
    this.lastAsked = performance.now();
    this.onBusy(true);
    try {
      if (wait) await rest(wait);
      const answer = mine.signal.aborted ? null : await patiently(work, mine.signal);
      return mine === this.mine ? answer : null;
    } catch (error) {
      if (mine === this.mine) throw error;
      return null;
    } finally {
      if (mine === this.mine) this.onBusy(false);
    }
  }

  // Nothing is asked any more.
  drop() {
    this.mine?.abort();
    this.mine = null;
    this.onBusy(false);
  }
}

// A server that is busy says when to come back; whoever still wants the answer does.
export async function patiently(work, signal) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await work(signal);
    } catch (error) {
      if (!error.retryAfter || performance.now() > end || signal.aborted) throw error;
      await rest(1000 * error.retryAfter);
      if (signal.aborted) throw error;
    }
  }
}

function rest(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
