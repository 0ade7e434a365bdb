// A virtual list: only visible rows are in the DOM, so its length costs nothing. It scrolls in its own box or with
// the window. Rows are all `height` pixels high, or `tops` holds the top of each row plus the bottom of the last.
import { Component, html } from "./vendor/preact.js";

const OVERSCAN = 8;

export class Virtual extends Component {
  constructor(props) {
    super(props);
    this.state = { first: 0, last: 40 };
    this.moved = () => this.measure();
  }

  componentDidMount() {
    this.scroller = this.props.window ? window : this.box;
    this.scroller.addEventListener("scroll", this.moved, { passive: true });
    addEventListener("resize", this.moved);
    this.measure();
  }

  componentWillUnmount() {
    this.scroller.removeEventListener("scroll", this.moved);
    removeEventListener("resize", this.moved);
  }

  componentDidUpdate(before) {
    if (before.count !== this.props.count || before.height !== this.props.height || before.tops !== this.props.tops) this.measure();
  }

  topOf(index) {
    const { tops, height } = this.props;
    return tops ? tops[Math.min(index, tops.length - 1)] : index * height;
  }

  // The last row that starts at or above a scroll position.
  rowAt(place) {
    const { tops, height, count } = this.props;
    if (!tops) return Math.max(0, Math.min(count, Math.floor(place / height)));
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tops[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Find out which rows are visible.
  measure() {
    if (!this.box) return;
    const { count, onRange } = this.props;
    const top = this.props.window ? -this.box.getBoundingClientRect().top : this.box.scrollTop;
    const room = this.props.window ? innerHeight : this.box.clientHeight;
    const first = Math.max(0, this.rowAt(top) - OVERSCAN);
    const last = Math.min(count, this.rowAt(top + room) + 1 + OVERSCAN);
    if (first !== this.state.first || last !== this.state.last) this.setState({ first, last });
    onRange?.(first, last);
  }

  // Scroll a row into view.
  show(index, where = 0.3) {
    const room = this.props.window ? innerHeight : this.box.clientHeight;
    // Begin with a whole row, so that the first one is not cut.
    const top = Math.max(0, this.topOf(this.rowAt(Math.max(0, this.topOf(index) - room * where))));
    if (this.props.window) scrollTo({ top: top + this.box.getBoundingClientRect().top + scrollY });
    else this.box.scrollTop = top;
    this.measure();
  }

  // Scroll only as far as needed for a row to be visible.
  reveal(index) {
    const top = this.topOf(index) + (this.props.window ? this.box.getBoundingClientRect().top : -this.box.scrollTop);
    const room = this.props.window ? innerHeight : this.box.clientHeight;
    if (top < 70 || top > room - 70) this.show(index);
  }

  atEnd() {
    const box = this.box;
    return box && box.scrollHeight - box.scrollTop - box.clientHeight < this.props.height * 2;
  }

  render({ count, row, label, className = "" }, { first, last }) {
    const rows = [];
    for (let index = first; index < Math.min(last, count); index++) rows.push(row(index));
    return html`<div class=${"virtual " + className} ref=${(box) => (this.box = box)} tabindex=${this.props.window ? undefined : 0}
      role=${this.props.window ? undefined : "region"} aria-label=${this.props.window ? undefined : label}>
      <div class="virtual-all" style=${{ height: this.topOf(count) + "px" }}>
        <ul class="virtual-rows" role="list" aria-label=${label} style=${{ transform: `translateY(${this.topOf(first)}px)` }}>
          ${rows}
        </ul>
      </div>
    </div>`;
  }
}
