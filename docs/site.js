// Names and a place in the order of the keyboard for what the theme leaves without.
addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
});

// The theme's search wants every word, and its index has none of one letter: "write a controller" would find nothing.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  if (message?.type === 2) message = { ...message, data: message.data.replace(/(^|\s)[+]?\w[*]?(?=\s|$)/g, "") };
  post.call(this, message, ...rest);
};
