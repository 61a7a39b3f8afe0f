// While a run plays, what is read rather than watched is drawn a few times a second.

const EVERY = 110; // milliseconds; 8 visits per second are drawn one by one

/** A function that says whether to draw now: always where nothing plays. */
export function pace(now: () => number = () => performance.now()): (playing: boolean) => boolean {
  let last = -Infinity;
  return (playing) => {
    if (playing && now() - last < EVERY) return false;
    last = now();
    return true;
  };
}
