// Names and a place in the order of the keyboard for what the theme leaves without.
addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
});

// The theme's search wants every word, and its index has none of one letter: "write a controller" and "ns-3" would find
// nothing.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  const words = message?.type === 2 && message.data.split(/[\s-]+/).filter((word) => word.length > 1);
  post.call(this, words ? { ...message, data: words.join(" ") } : message, ...rest);
};
