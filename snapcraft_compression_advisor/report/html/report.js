"use strict";
// What a mark stands for is its aria-label: shown where the pointer is, and read out
// where the arrow keys go within a chart.
(() => {
  const tip = document.getElementById("tip");
  const MARKS = '[role="graphics-symbol"][aria-label]';
  let current = null;

  const hide = () => {
    tip.hidden = true;
    if (current) current.classList.remove("at");
    current = null;
  };

  const show = (mark, x, y) => {
    if (mark !== current) {
      hide();
      current = mark;
      mark.classList.add("at");
      tip.textContent = mark.getAttribute("aria-label");
      tip.hidden = false;
    }
    const { width, height } = tip.getBoundingClientRect();
    const right = document.documentElement.clientWidth - width - 4;
    tip.style.left = `${Math.max(4, Math.min(x + 12, right))}px`;
    tip.style.top = `${y - height - 10 < 4 ? y + 18 : y - height - 10}px`;
  };

  const step = (chart, key) => {
    const marks = [...chart.querySelectorAll(MARKS)];
    if (!marks.length) return;
    const at = marks.indexOf(current);
    const last = marks.length - 1;
    const next = {
      ArrowRight: at < last ? at + 1 : 0,
      ArrowDown: at < last ? at + 1 : 0,
      ArrowLeft: at > 0 ? at - 1 : last,
      ArrowUp: at > 0 ? at - 1 : last,
      Home: 0,
      End: last,
    }[key];
    const box = marks[next].getBoundingClientRect();
    show(marks[next], box.left + box.width / 2, box.top + box.height / 2);
  };

  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.(MARKS);
    if (mark) show(mark, event.clientX, event.clientY);
    else if (!document.activeElement?.closest?.("svg")) hide();
  });
  document.addEventListener("pointerdown", (event) => {
    const mark = event.target.closest?.(MARKS);
    if (mark) show(mark, event.clientX, event.clientY);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    const chart = document.activeElement?.closest?.(".chart svg");
    if (event.key === "Escape") hide();
    else if (chart && /^(Arrow|Home$|End$)/.test(event.key)) {
      event.preventDefault();
      step(chart, event.key);
    }
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true });

  // What the charts show: one device, one app, and codecs that can't be shipped or not.
  // Groups of other apps are in a fold; the chosen one takes the place before it.
  const choices = document.getElementById("choices");
  const choose = (fold, app) => {
    const shown = fold.previousElementSibling;
    const chosen = [...fold.children].find((each) => each.dataset.app === app);
    if (!chosen) return;
    fold.before(chosen);
    fold.append(shown);
  };
  const apply = () => {
    const picked = new FormData(choices);
    const device = picked.get("device");
    const whatIf = picked.has("what-if") ? "yes" : "no";
    for (const chart of document.querySelectorAll("figure.chart"))
      chart.hidden =
        (device && chart.dataset.device && chart.dataset.device !== device) ||
        (chart.dataset.whatIf ?? whatIf) !== whatIf;
    if (picked.has("app"))
      for (const fold of document.querySelectorAll("details.others"))
        choose(fold, picked.get("app"));
  };
  if (choices) {
    choices.hidden = false;
    if (choices.elements.app) document.body.classList.add("chosen");
    choices.addEventListener("input", apply);
    choices.addEventListener("submit", (event) => event.preventDefault());
    apply(); // browsers keep what was chosen where a page is loaded again
  }

  const copy = async (button) => {
    const line = button.previousElementSibling;
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(line.textContent);
    } catch {
      getSelection().selectAllChildren(line); // to be copied by hand
      done = "Selected";
    }
    button.textContent = done;
    button.setAttribute("aria-label", `${done} ${line.textContent}`);
  };
  for (const button of document.querySelectorAll(".copied button")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }

  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
})();
