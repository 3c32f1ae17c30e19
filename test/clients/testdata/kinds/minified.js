// The part of the page that is minified into one line.
window.minified = {
  minifiedPrice(order) { return order.price.amount.toFixed(2) },
  minifiedTotal(basket) { return basket.items.map((item) => item.price) },
  minifiedStock(hall) { return hall.stock() },
}
