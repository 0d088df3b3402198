import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
@EnableAutoConfiguration
@EnableScheduling
public class Receiver {
  // During a rotation these are two secrets, separated by a space. Each delivery opens with either.
  private final String[] secrets = System.getenv("ASSAY_WEBHOOK_SECRETS").split(" ");
  private final String privateKey = System.getenv("ASSAY_PRIVATE_KEY");
  private final JdbcTemplate database;

  Receiver(JdbcTemplate database) {
    this.database = database;
    // The queue is a table. In a project a migration makes it.
    database.execute("create table if not exists assay_events (id varchar(100) primary key, event varchar(100000))");
  }

  @PostMapping("/webhooks/assay")
  ResponseEntity<String> receive(
      @RequestHeader(name = "X-Service-Signature", defaultValue = "") String signature, @RequestBody byte[] body) {
    String text;
    try {
      text = open(signature, new String(body, UTF_8));
    } catch (Exception error) {
      return ResponseEntity.badRequest().body(error.getMessage());
    }
    try {
      database.update("insert into assay_events (id, event) values (?, ?)", parse(text).get("id"), text);
    } catch (DuplicateKeyException known) {
      // A repeated delivery only needs the same answer.
    }
    return ResponseEntity.noContent().build();
  }

  private String open(String signature, String body) throws Exception {
    Exception refused = null;
    for (String secret : secrets) {
      try {
        return OpenWebhook.openWebhook(signature, body, secret, privateKey);
      } catch (Exception error) {
        refused = error;
      }
    }
    throw refused;
  }

  /** Each run waits for the one before. With several servers let one of them do it, or take a lock. */
  @Scheduled(fixedDelay = 1000)
  void handleWaiting() {
    for (Map<String, Object> row : database.queryForList("select id, event from assay_events where event is not null")) {
      try {
        handle(parse((String) row.get("event")));
        // The id stays, so that an event that comes again is known. The claims go.
        database.update("update assay_events set event = null where id = ?", row.get("id"));
      } catch (Exception error) {
        System.err.println(row.get("id") + " waits for the next time: " + error);
      }
    }
  }

  /** Your work. An event can be handled twice, if the server stops in the middle of it. */
  private void handle(Map<String, Object> event) {
    if (event.get("type").equals("verification.session.succeeded")) {
      // event.get("data") has the claims that the person shared.
    }
    Map<?, ?> metadata = (Map<?, ?>) event.get("metadata");
    System.out.println("handled " + event.get("id") + " " + event.get("type") + " " + metadata.get("client_reference_id"));
  }

  private static Map<String, Object> parse(String text) {
    return JsonParserFactory.getJsonParser().parseMap(text);
  }

  public static void main(String[] args) {
    SpringApplication.run(Receiver.class, args);
  }
}
